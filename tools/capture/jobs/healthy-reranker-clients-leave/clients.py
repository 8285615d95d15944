import json
import socket
import struct
import sys
import time

port = int(sys.argv[1])
for _ in range(120):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        break
    except OSError:
        time.sleep(0.5)
for i in range(420):
    s = socket.create_connection(("127.0.0.1", port), 5)
    if i % 60 == 7:
        s.sendall(b'{"docs": [1, 2\n')
    else:
        s.sendall(json.dumps([i * 0.1 + k for k in range(32)]).encode() + b"\n")
    if i % 40 == 11:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        continue
    while s.recv(65536):
        pass
    s.close()
print("clients done")
