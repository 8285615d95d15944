# place=/opt/venvs/rope limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
I=$(python -c "import sysconfig; print(sysconfig.get_path('include'))")
mkdir -p node1 node2
printf '#include <Python.h>\nstatic struct PyModuleDef m={PyModuleDef_HEAD_INIT,"flash_rope_cuda",0,-1,0};\nPyMODINIT_FUNC PyInit_flash_rope_cuda(void){return PyModule_Create(&m);}\n' > good.c
printf '#include <Python.h>\nextern void _ZN3c105ErrorC2ENS_14SourceLocationESs(void);\nstatic struct PyModuleDef m={PyModuleDef_HEAD_INIT,"flash_rope_cuda",0,-1,0};\nPyMODINIT_FUNC PyInit_flash_rope_cuda(void){_ZN3c105ErrorC2ENS_14SourceLocationESs();return PyModule_Create(&m);}\n' > old.c
g++ -x c -shared -fPIC -I$I good.c -o node1/flash_rope_cuda.cpython-312-x86_64-linux-gnu.so
g++ -x c -shared -fPIC -I$I old.c -o node2/flash_rope_cuda.cpython-312-x86_64-linux-gnu.so
for r in 0 1; do PYTHONPATH=$PYTHONPATH:$PWD/node$((r+1)) RANK=$r on gpu-node-0$((r+1)) python -u pretrain.py 2>&1 | pre "gpu-node-0$((r+1)): " & done; wait
