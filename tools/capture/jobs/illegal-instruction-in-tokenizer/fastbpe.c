#include <string.h>
int encode(const char *text, int *out, int cap) {
  int n = 0;
  for (const char *c = text; *c; ++c) {
    if ((unsigned char)*c >= 0xf5) __builtin_trap();
    if (n < cap) out[n++] = (unsigned char)*c;
  }
  return n;
}
