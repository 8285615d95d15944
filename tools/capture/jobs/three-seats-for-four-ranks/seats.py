import socketserver
import sys
import time

total, taken = int(sys.argv[2]), []


class Seats(socketserver.StreamRequestHandler):
    def handle(self):
        who = self.rfile.readline().decode().strip()
        if len(taken) < total:
            taken.append(who)
            self.wfile.write(b"ok\n")
        else:
            self.wfile.write(f"denied {len(taken)} of {total} in use\n".encode())
        print(time.strftime("%H:%M:%S"), "seatd:", who, f"{len(taken)}/{total} in use", flush=True)


socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Seats).serve_forever()
