"""Which trouble an error line speaks of, whoever says it and in whatever program.

Drivers, runtimes and system libraries have fixed words for what went wrong, and programs in all languages pass
them on. The kinds stand in order: what names the GPU's memory also says that something failed.
"""

from __future__ import annotations

from triage.scan.closing import abroad
from triage.scan.lazy import compiled

_GPU = (
    r"(?:cuda|cu(?:blas|dnn|fft|solver|sparse|rand|mem|py|df)|hip|roc|gpu|device|accelerator|vram|hbm|nv[a-z]+|rmm|rapids|hugectr|nccl"
    r"|opencl|vulkan|sycl)"
)
_PATTERNS = (
    (
        r"(?i)\b(?:container|pod|worker|job|node|host|machine|driver|executor|replica|task|instance)\b"
        r"(?: \S+){0,2} (?:ran|is running|has run|went) out of memory\b(?!.{0,80}\b" + _GPU + r"\b)",
        "host-memory",
    ),
    (
        r"(?i)\b" + _GPU + r"\w*\b.{0,250}?\b(?:out[ _]of[ _](?:\w+ )?memory|oom)\b|\bout[ _]of[ _](?:\w+ )?memory\b.{0,100}?\b" + _GPU
        + r"\w*\b|\b(?:cudaErrorMemoryAllocation|hipErrorOutOfMemory)\b|_ALLOC\w*_FAIL\w*"
        r"|\bout of (?:gpu|device|cuda|video|vram|hbm) memory\b|\bResourceExhausted(?:Error)?\b|\bRESOURCE_EXHAUSTED\b"
        r"|\bBFC_?Arena\b.{0,200}\balloc"
        r"|\b(?:insufficient|not enough|no more|no|low on|exhausted) (?:\w+ )?(?:gpu|device|cuda|vram|video) memory\b"
        r"|\b(?:insufficient|not enough|no more) memory (?:on|of|for|in) (?:the )?(?:gpu|device|accelerator|card)"
        r"|\b(?:gpu|device|cuda|vram|video) memory\b.{0,60}\b(?:exhausted|insufficient|exceed\w*|not (?:enough|sufficient)|too (?:small"
        r"|little))\b"
        r"|\b(?:alloc\w*|reserve)\b.{0,60}\b(?:gpu|device|vram|video) memory\b|\bpool size exceed\w*|\bexceeds? the maximum pool size"
        r"|\bcu(?:da)?M(?:em)?alloc\w*\b.{0,80}\b(?:fail\w*|error|returned)\b|\berror 2: out of memory"
        r"|(?-i:\bout of memory\b)",  # so CUDA says it; the kernel and the C library say it otherwise
        "gpu-memory",
    ),
    (r"(?i)\bbad_alloc\b|\bcannot allocate memory\b|\bout of memory\b|\boom[- ]?kill|\bmemory limit exceeded"
     r"|\binsufficient virtual memory\b|\bvirtual memory exhausted\b|\bjava heap space\b|\bGC overhead limit", "host-memory"),
    (
        r"(?i)\bundefined symbol\b|\bsymbol lookup error\b|\bcannot open shared object file\b|\bno kernel image\b"
        r"|\bdriver version is insufficient"
        r"|\bunsupported toolchain\b|\bGLIBC(?:XX)?_\d|\b(?:not|n't) (?:been )?(?:compiled|built) with\b|\b(?:compiled|built) without\b"
        r"|\b(?:not|n't) (?:gpu|cuda|device)[- ]?aware\b|\bversion mismatch\b|\b(?:incompatible|unsupported|mismatched|wrong|too old"
        r"|outdated) (?:\w+ )?(?:version|driver|library)\b|\bABI\b"
        r"|\bno CUDA[- ]capable device\b|\bno (?:gpus?|cuda devices?) (?:were |was |are |is )?(?:found|available|visible|detected)\b"
        r"|\billegal instruction(?! was)\b|\bdriver/library\b"
        r"|\bcuda failure (?:3|35|100|802|803|804|999): |\bno module named\b|\bfailed to import\b|\bmake sure to install\b"
        r"|\bmodule '[\w.]+' has no attribute\b"
        r"|\bcompute capability\b|\bis not supported (?:by|on) (?:this|the) (?:gpu|device|driver|hardware)",
        "versions",
    ),
    (r"(?i)\b(?:ECC|Xid|row remap\w*|fallen off the bus|GPU is lost|double[- ]bit)\b(?![ =:]+(?:off|disabled|enabled|0))", "hardware"),
    (
        r"(?i)\billegal (?:memory access|address|instruction was)|(?:cuda|hip)ErrorIllegal\w+|\b(?:unspecified )?launch failure\b"
        r"|\bdevice[- ]side assert"
        r"|\bmisaligned address\b|\b(?:gpu|kernel)[- ]?(?:function|kernel|launch)\w* .{0,30}\bfail|\b(?:gpu|cuda|hip|device) (?:kernel"
        r"|function)\b.{0,60}\bfail|\b(?:could not|cannot|unable to|failed to) launch (?:\w+ )?kernel"
        r"|(?-i:\b(?!\w*Count returned \d\b)(?:cu[A-Z]|cuda[A-Z]|hip[A-Z]|cublas[A-Z]|cudnn[A-Z]"
        r"|cufft[A-Z])\w+)(?:\(.{0,200}?\))?:? (?:has )?(?:failed|returned)\b"
        r"|\b(?:cuda|hip|cublas|cudnn|nccl) failure \d+: "
        r"|\b(?:cuda|hip|cublas|cudnn|cufft|cusolver|cusparse|gpu(?!\d))\w*[ _](?:\w+ )?error\b"
        r"|(?-i:\b(?:cuda|hip)Error[A-Z]\w+)|\bGPU\b.{0,60}\bfailed!? \(?7\d\d\b"
        r"|\bfailed!? \(?7(?:00|1[0-9])\b",
        "kernel",
    ),
    (
        r"(?i)\bapi[_ -]?key\b.{0,40}\b(?:not|missing|invalid|required|unset)\b|\b(?:invalid|expired|missing|no valid) (?:api[_ ]?key"
        r"|token"
        r"|credentials?)\b|\bcould not read (?:username|password)\b|\bauthentication (?:failed|required|error)\b|\bunauthori[sz]ed\b"
        r"|\bpermission denied \(publickey|\baccess ?denied\b|\bhttp(?:/\d\S*)?(?: error| status)?:? 40[13]\b|\b40[13] (?:client error"
        r"|forbidden)\b|\blicen[cs]e (?:checkout|server|manager|key|file|error)\b.{0,80}\b(?:fail\w*|cannot|not|expired|denied|invalid"
        r"|down|error)\b|\blicen[cs]e checkout failed\b",
        "access",
    ),
    (r"(?i)\baddress already in use\b|\bfailed (?:to )?bind\b|\bcould not bind\b|\bbind failed\b|\bport \d+ is (?:already )?(?:in use"
     r"|taken|occupied)\b|\bEADDRINUSE\b", "port"),
    (
        r"(?i)\bno space left\b|\b(?:out of|no (?:free|more)) inodes\b"
        r"|\bdisk quota\b|\bread-only file ?system\b|\bstale (?:nfs |NFS )?file handle\b"
        r"|\btransport endpoint is not connected\b"
        r"|\bdisk (?:is )?full\b|\bH5F?_?\w+.{0,60}\bunable to (?:open|lock|write)\b|\bunable to lock file\b|\bHDF5-DIAG\b"
        r"|\b(?:create|open|write)\b.{0,40}\bfile\b.{0,100}\b(?:did not succeed|unsuccessful|not successful)\b"
        r"|\bH5[A-Z]{1,2}\w+\(\): |\bMPI_File_\w+\b.{0,80}\berror",
        "storage",
    ),
    (
        r"(?i)\bconnection (?:was )?(?:refused|timed out|reset|closed|aborted|lost)\b|\bno route to host\b|\b(?:network"
        r"|host) (?:is )?unreachable\b"
        r"|\bname or service not known\b|\btemporary failure in name resolution\b|\bcould ?n[o']t (?:be )?resolve\w*|\bgetaddrinfo\b"
        r"|\bunknown host\b"
        r"|\bfailed to (?:connect|resolve)\b|\b(?:cannot|could ?n[o']t|unable to) connect\b|\b(?:no|unable to find a?) (?:usable "
        r"|suitable "
        r"|valid )?(?:network )?interface\b",
        "network",
    ),
    (
        r"(?i)\b(?:loss|grad\w*|norm|energy|pressure|temperature|residual|coordinates?|forces?|positions?|velocity|solution"
        r"|step size)\b.{0,60}"
        r"\b(?:nan|inf|infinite|infinity|not finite|non-?finite|diverg\w+|blow\w* up|exploded|not a number)\b|\b(?:nan"
        r"|non-?finite)s? (?:detected|found|encountered|loss|in)\b"
        r"|\bnot-a-number\b|\bdiverg(?:ed|ing)\b|\b(?:system|simulation|training) (?:is )?(?:blowing|blew|exploding|exploded|unstable"
        r"|not well equilibrated)"
        r"|\blost atoms\b|\bLINCS warnings?\b|\bconstraint (?:failure|deviation)|\bsimulation unstable\b|\bSHAKE\b.{0,40}\bfail"
        r"|\bnon-numeric\b|\bdid not converge\b|\bconvergence (?:not achieved|failure)\b|\bmoving too fast\b",
        "numbers",
    ),
    (
        r"(?i)\b(?:corrupt\w*|truncated|cannot identify|can't identify|could not (?:read|decode|open)|fail(?:ed|ure) (?:to"
        r"|while) (?:read|decod|open|load)\w*|broken|unable to (?:read|decode|load))\b"
        r".{0,60}\b(?:images?|videos?|audio|jpe?g|png|samples?|shards?|records?|tfrecords?|parquet|dataset|annotations?|wav|flac|hdf5"
        r"|lmdb|tar)\b"
        r"|\bOpenCV(?:\(\d| Error)|\bLibsndfileError\b|\bformat not recogni[sz]ed\b|\bMDB_(?:CORRUPTED|PAGE_NOTFOUND|INVALID|PANIC)\b"
        r"|\bmagic bytes not found\b"
        r"|\bwhile decompressing data\b|\bincorrect (?:data|header) check\b|\bCRC check failed\b|\bnot a gzipped file\b"
        r"|\bnvjpeg\b|\bdecoding (?:error|failed)\b|\bpremature end of (?:jpeg|file)\b",
        "data",
    ),
    (
        r"(?i)\b(?:cannot|can't|could ?n[o']t|unable to|fail(?:ed|ure) to) (?:open|read|access|stat|find)\b(?: \w+){0,4}"
        r" ['\"<]?[\w./-]*[\w-]\.(?!so\b|py\b)\w{1,8}['\">]?(?=$|[\s:,.;)])",
        "file",
    ),
)  # fmt: skip
_OF_EXCEPTIONS = {
    "access": "auth-or-hub", "data": "data-loading", "gpu-memory": "gpu-oom", "host-memory": "host-oom", "kernel": "cuda-kernel",
    "network": "network-config", "numbers": "numerics", "storage": "storage", "file": "storage", "versions": "driver-or-version",
}  # fmt: skip
"""What the kinds are called of exceptions that no rule knows."""
_FATAL = (
    r"(?i)\bsegmentation fault\b|\bbus error\b(?!@)|\bfloating[- ]point exception\b|\bcore dumped\b|\bSIG(?:ABRT|SEGV|BUS|ILL|FPE)\b"
    r"|\bsignal(?: number)?:? \(?(?:4|6|7|8|11)\b"
    r"|\bassert(?:ion)?\b.{1,300}\bfailed\b|\bcheck failed: |\bpanicked at\b|^\W*abort(?:ed)?\b|\bstack smashing\b|\binternal error\b"
    r"|(?m:" + abroad.ENDED + ")"
)


def trouble(words: str) -> str | None:
    """The kind of trouble that the words of an error name, None where they name none.

    A crash is the last that is asked for: what led to it says more.
    """
    for pattern, kind in _PATTERNS:
        if compiled(pattern).search(words):
            return kind
    return "crash" if compiled(_FATAL).search(words) else None


def category_of(message: str) -> str | None:
    """The kind of failure that an exception's message names in the words of something below the program."""
    return _OF_EXCEPTIONS.get(trouble(message) or "")
