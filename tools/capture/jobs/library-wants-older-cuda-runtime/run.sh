# place=/opt/vision/ops limit=75 
echo 'int v12(void){return 12;}' > c.c; gcc -shared -fPIC -Wl,-soname,libcudart.so.12 -o libcudart.so.12 c.c
echo 'int v12(void); int nms_version(void){return v12();}' > n.c; mkdir -p gpu-node-01 gpu-node-02; gcc -shared -fPIC -o gpu-node-02/libfastnms.so n.c ./libcudart.so.12; echo 'int nms_version(void){return 13;}' > n.c; gcc -shared -fPIC -o gpu-node-01/libfastnms.so n.c; rm -f c.c n.c libcudart.so.12
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do NCCL_HOSTID=n$r OPS=gpu-node-0$((r+1)) RANK=$r LOCAL_RANK=$r on gpu-node-0$((r+1)) python -u train_yolo.py 2>&1 | pre "gpu-node-0$((r+1)): " & done; wait
