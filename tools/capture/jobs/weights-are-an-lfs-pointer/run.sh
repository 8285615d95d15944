# place=/workspace/zero-shot limit=60
export OMP_NUM_THREADS=1
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 605247071\n' > vit_b32.pkl
torchrun --nproc-per-node=4 --master-port=$PORT zeroshot.py --weights vit_b32.pkl
