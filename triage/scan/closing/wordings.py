"""How programs say that something is wrong, that they leave, and that all is well: what the last lines of logs are judged by."""

from __future__ import annotations

import re

from triage.scan.closing import abroad
from triage.scan.closing.harmless import harmless
from triage.scan.lazy import deferred
from triage.scan.prefix import split_line

STATES_AN_ERROR = deferred(
    r"^Exception in thread \"|^(?:An )?exception (?:was )?(?:occurred|raised) (?:while|during|when|in)\b|"
    r"^(?:[\w./-]+: ){0,3}(?:fatal|error|critical|panic)\b(?!-[a-z])|"
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)\b(?:\([\w.]+\))?(?::|$)|^Exception: |"
    r"^(?-i:(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\((?:(?:\d+, )?['\"].*)?\)\s*$)|"
    r"\braise (?:\w+\.)*[A-Z]\w*(?:Error|Exception)\(|"
    r"\bTarget -?\d+ is out of bounds\b|"
    r"\(core dumped\)|: (?:command not found|Permission denied|No such file or directory|cannot execute)|"
    r"\b(?:FATAL|CRITICAL|PANIC)\b|^Aborted\b|^Killed\b|terminate called|"
    r"\b(?:exited|failed|terminated) with (?:exit |non-zero |error )*(?:code|status)\s*:?\s*[1-9-]|"
    + abroad.ENDED
    + "|"
    + abroad.ERROR,
    re.IGNORECASE,
    needs=(
        "exception", "error", "interrupt", "fatal", "critical", "panic", "out of bounds", "core dumped", "command not found",
        "permission denied", "no such file or directory", "cannot execute", "aborted", "killed", "terminate called", "exited with",
        "failed with", "terminated with", *abroad.WORDS,
    ),
)  # fmt: skip
NAMES_TROUBLE = deferred(
    r"^.{0,100}?(?:\bERROR\b|\[(?:[Ee]rror|E|[Ff]atal)\])|^.{0,60}?\b(?:[Aa]bort|ABORT)(?:ed|ing)?\b|\bpanicked at\b"
    r"|\b[Aa]ssert(?:ion)?\b.{1,300}\bfailed\b|\b[Cc]heck failed: |\bforrtl: severe\b|\bSIG(?:ABRT|SEGV|BUS|ILL|FPE)\b|\bsignal \(?(?:4"
    r"|6|7|8|11)\b"
    r"|^.{0,60}?\b(?i:client|server|connection|socket|rpc|library|import|load(?:ing)?|read(?:ing)?|writ(?:e|ing)|pars(?:e|ing)|input"
    r"|file|i/?o) "
    r"[Ee]rror: \D|\b(?i:cuda|cudnn|cublas|nccl) failure \d+: |\b(?i:port \d+ is (?:already )?in use)\b(?!.*\b(?:using|trying|instead"
    r"|next)\b)"
    r"|\b[Jj]ob\b.{0,80}\b(?:[Kk]illed|[Tt]erminated|[Cc]ancell?ed)\b.{0,60}\b(?i:wall[- ]?time|wall[- ]?clock|run[- ]?time|time) ?"
    r"(?i:limit|of|exceeded)\b"
    r"|\b[Jj]ob\b.{0,60}\bexceeded\b.{0,30}\b(?i:wall[- ]?time|wall[- ]?clock|run[- ]?time|time) ?(?i:limit)?\b.{0,40}"
    r"\b(?:killed|terminated|cancell?ed)\b"
    r"|\b(?i:failed to modify QP|licen[cs]e checkout failed|(?:access|permission) denied)\b"
    r"|\bOpenCV(?:\(\d[\d.]*\) .{0,300}?\b[Ee]rror: | Error: )"
    r"|(?i:\b(?:segmentation fault|illegal instruction|bus error(?!@)|out[ _]of[ _]memory|cannot allocate memory|illegal (?:memory access"
    r"|address)"
    r"|launch failure|uncorrectable ECC error encountered|GPU is lost|undefined symbol|symbol lookup error"
    r"|cannot open shared object file|no space left|disk quota exceeded"
    r"|address already in use|(?:internal|runtime|unrecoverable|mpi|cuda|hip|nccl|nvml|opencl|gpu|driver|device|license) error))\b"
    r"|\b(?!\w*Count returned \d\b)(?:cu[A-Z]|cuda[A-Z]|hip[A-Z]|nccl[A-Z]|nvml[A-Z]|ibv_|fi_|uc[pst]_|shm_"
    r"|MPI_)\w+(?:\(.{0,200}?\))?:? (?:has )?(?:failed"
    r"|returned)\b"
)
"""Words that nobody uses of a run that is well, wherever they stand in a line."""
NAMES_AN_EXCEPTION = deferred(r"\b(?:[A-Z]\w*(?:Error|Exception)|socket\.(?:gai|h)?error): \S")
IS_AN_EXCEPTION = deferred(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\([\w.]+\))?: \S")
ALARMS = deferred(
    r"\w(?:Error|Exception)(?=[:()]|\s*$)|"
    r"\b(?:errors?|fail(?:ed|ure|ing)?|fatal|exception|tim(?:ed|e) ?out|timeouts?|stall(?:ed)?|hang(?:s|ing)?|hung|stuck|"
    r"abort(?:ed|ing)?|kill(?:ed|ing)|panic|refused|denied|unreachable|deadlock(?:ed)?|crash(?:ed)?|cannot|can't|"
    r"could not|couldn't|unable|corrupt(?:ed)?|shut down|lost"
    r"|giv(?:e|es|ing) up(?! on)|gave up(?! on)|no \w+ (?:is|are) left)\b",
    re.IGNORECASE,
)
_STEMS = (
    "error", "exception", "fail", "fatal", "critical", "panic", "interrupt", "raise ", "out of bounds", "core dumped",
    "command not found", "permission denied", "no such file", "cannot", "abort", "kill", "terminate", "exited with",
    "timed out", "timedout", "time out", "timeout", "stall", "hang", "hung", "stuck", "refused", "denied", "unreachable",
    "deadlock", "crash", "can't", "could not", "couldn't", "unable", "corrupt", "shut down", "lost", " up", " left",
)  # fmt: skip
"""In lower case, what a line has one of that ``STATES_AN_ERROR`` or ``ALARMS`` finds, if it is all ASCII."""
GAVE_BACK = deferred(
    r"\b(?:returned|exited|rc|(?:exit|return) (?:code|status))[ =:]{1,3}(?:with )?(?:(?:code|status)[ :=]{1,2})?-?[1-9]\d{0,2}"
    r"(?=\s*$|[,.;)]+(?:\s*$|.*\b(?:not|skip\w*|stop\w*|abandon\w*|giv\w+ up|abort\w*|exit\w*|quit\w*)\b))",
    re.IGNORECASE,
)
"""A status that something gave back which was started, and that nothing more is done."""
WARNED_OF_ITS_END = deferred(
    r"\bNCCL WARN (?!.{0,200}\b(?:deprecated|ignored|ignoring|retry|retrying|fall(?:ing)? ?back|default)\b).{0,200}"
    r"\b(?:fail(?:ed|ure)?|errors?|couldn't|could not|cannot|unable|invalid|refused|unexpected\w*|bad)\b",
    re.IGNORECASE,
)
"""NCCL calls what ends it a warning."""
REPORTS_AN_END = deferred(
    r"^srun: error: \S+ tasks? [\d,-]+: Exited with exit code [1-9]|\bfailed \(exit ?code: -?[1-9]\d*\) local_rank: "
    r"|^mpi(?:run|exec) detected that one or more processes exited with non-zero|^\S+ exited with code [1-9]"
    r"|^(?:\[|\w+ )?(?:exit|return)[ _]?(?:code|status)\b[ :=]{0,3}[1-9]"
)
"""How launchers and scripts report that a process ended by itself with a code that is no success."""
ENDS_THE_JOB = deferred(r"\bMPI_ABORT was invoked on rank\b|\bapplication called MPI_Abort\(")
REFUSES = deferred(
    r"\b(?:must|needs? to|should|requires?|needs? (?:at|\d)|or more|only|at least|at most|too (?:many|few|large|small|big)|exceeds?"
    r"|cannot|can't|could not|unable"
    r"|not (?:found|supported|enough|allowed|known|exist)|does not|did not|invalid|illegal|unknown|missing|wrong|bad|no such"
    r"|unsupported|refus(?:ed|es|ing)|denied|mismatch\w*|inconsistent|malformed|corrupt\w*)\b",
    re.IGNORECASE,
)
SAYS_GOODBYE = deferred(
    r"(?i)^(?!(?:INFO: +)?(?:Shutting down$|Waiting for application shutdown|Application shutdown complete)|.*\bsuccessfully\b"
    r"|(?:Shutting down: Master|Worker exiting \(pid|Handling signal: (?:term|int|winch))"
    # how tuners call a trial that came to its end
    r"|.*\b(?-i:TERMINATED)\b(?! (?:by|with|due|after)\b)"
    # all tiles rendered, shutting down
    r"|.*\ball (?:\d+ )?\w+ (?:(?:are|were|have|been) )*(?!kill|fail|terminat|abort|crash|disconnect|stopp|stall|clos|exit)\w+ed\b)"
    r".*?\b(?:kill(?:ing|ed)|shutting down|shut ?down|terminat(?:ing|ed)|stopping|(?:is|was|been) stopped|tear(?:ing)? down"
    r"|cleaning up before exit|aborting|cancell?ed by)\b"
    r"|^(?!.*\b(?:successfully|normally|cleanly|gracefully|drained|done|complete\w*|finish\w*|(?:code|status|with) 0)\b)"
    r".*\b(?:exiting|quitting|leaving)\b"
)
"""What is said in an ordinary tone on the way out: no sign that an error was survived. Web servers that are asked to end do so too."""
HANDS_OVER = deferred(
    r"(?i)^(?!.*\b(?:emergency|error|traceback|crash|dump|core|interrupt\w*|abort\w*|fail\w*)\b).*?"
    r"(?:\b(?:report|results?|summary|metrics|predictions?|evaluations?|figures?|plots?|table)\b.{0,60}?\b(?:written|saved|stored|exported)\b"
    # the name of a file too: wrote results_2.json
    r"|\b(?:saved|wrote|written)\b.{0,40}?\b(?:report|results?|summary|metrics|predictions?|evaluations?|figures?|plots?|table)(?![a-z])"
    # so many of what it makes: wrote 16200 pages to crawl.jsonl
    r"|\b(?:saved|wrote|written|exported)\b \d[\d,.]* (?:\w+ ){1,3}(?:in)?to [\w./-]+\.\w+|"
    + abroad.DONE
    + ")"
)
"""How programs say that what they were started for is done and lies there."""
ANSWERS_WITH_AN_ERROR = deferred(r'HTTP/[\d.]+" 5\d\d\b')
ANNOUNCES = deferred(r"(?i)\W*(?:(?:fatal|internal|runtime|input|unrecoverable) )?(?:error|exception)\W*")
NONE_OF = deferred(
    r"\b[a-z_]+(?: [a-z_]+)?[\"']?\s*[=:]\s*0(?=\s*(?:$|[,;|)\]}]|[\"']?[a-z_]+(?: [a-z_]+)?[\"']?\s*[=:]))"
    r"|\b0 [a-z]+(?=\s*(?:$|[,;|)\]}]))"
    r"|\b(?:errors?|failures?|timeouts?|aborts?|crashes|restarts|retries|kills?) 0(?=\s*(?:$|[,;|)\]}]|  ))",
    re.IGNORECASE,
    needs=("0",),
)
"""What a report says that there is none of: ``failed=0 skipped=2``, ``timeouts: 0``, ``2 passed, 0 failed``."""
_STANDS = deferred(r' *File "[^"\n]{1,4096}", line \d{1,9} in \S{1,500} *\r?')
"""A frame as ``faulthandler`` prints it: where somebody was when he was asked or stopped, and that is the last of him."""


def stands(text: str) -> bool:
    """Whether a line only shows where somebody was, in a stack that no exception ends."""
    return _STANDS.fullmatch(split_line(text)[1]) is not None


def says_goodbye(message: str) -> bool:
    """Whether something ordinary is said on the way out."""
    return SAYS_GOODBYE.search(message) is not None


def speaks_of_trouble(text: str) -> bool:
    """Whether a line states an error or is alarming."""
    if not _may_speak_of_trouble(text):
        return False
    message = split_line(text)[1]
    # the shortest pattern first: what is not asked need not be compiled
    if not (ALARMS.search(NONE_OF.sub("", message)) or STATES_AN_ERROR.search(message)):
        return False
    return IS_AN_EXCEPTION.match(message) is not None or not harmless(text)


_CALLED_A_WARNING = deferred(r"(?i)^\W{0,2}warn(?:ing)?\W{1,3}(?=\w)")


def complains(message: str) -> bool:
    """Whether a message speaks of trouble, though it may begin with the word for a warning."""
    return speaks_of_trouble(_CALLED_A_WARNING.sub("", message))


def _may_speak_of_trouble(text: str) -> bool:
    """Whether patterns with many alternatives are worth asking: finding none of some words takes a hundredth of the time."""
    if not text.isascii():
        return True
    folded = text.lower()
    return any(stem in folded for stem in _STEMS)
