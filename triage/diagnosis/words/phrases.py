"""The words that errors of all programs have in common, by what they speak of.

They are searched for without regard to case, except where a pattern says otherwise.
"""

from __future__ import annotations

import re

from triage.scan.lazy import deferred


def _long(source: str, *needs: str) -> re.Pattern[str]:
    """A long list of wordings, which is compiled only for a message that has one of some words."""
    return deferred(source, re.IGNORECASE | re.ASCII, needs)


PRODUCT = (
    r"(?:(?:py)?torch|TE|transformer[ _-]?engine|megatron(?:[ _-]?core)?|mcore|cuda(?: toolkit| driver)?|cudnn|nccl|triton"
    r"|transformers|accelerate|peft|trl|deepspeed|vllm|sglang|flash[ _-]?attn|flash[ _-]?attention|flashinfer|apex|python|numpy"
    r"|ray|driver|rocm|nvshmem|nvcc|gcc|g\+\+|glibc|tensorrt|datasets|mooncake|nixl|lightning)"
)
PACKAGES = _long(
    r"\b(?:pip3?|conda|uv pip|apt(?:-get)?) install\b|\bnot (?:been )?(?:installed|importable|compiled|built)\b"
    r"|\b(?:is|are) installed\?|\bmake sure [^\n]{0,60} (?:is|are) installed\b|(?:^|\W)(?:to be|must be|needs to be) installed\b"
    r"|\b(?:please|must|need to|needs to|try|consider) (?:install|upgrad|updat|downgrad|reinstall|recompil)\w*"
    r"(?! (?:the|your) (?:\w+ )?(?:config|setting|argument|script|code|value|flag|parameter))|\b(?:re)?build (?:it|\w+) (?:with"
    r"|from)\b|\binstall (?:from|it|with|via|using|\S+ (?:to|before|in order))\b|[;,.] install \S+"
    r"|\brequires? (?:an? )?[\w .-]{1,40} (?:installed|build\b)|\bupgrade [A-Z]\w+|\bcompatible (?:\S+ )?version\b"
    r"|\bunsupported [^\n]{0,60}\bversion: ?v?\d|\bcannot open shared object file\b|\b(?:dynamic|shared) librar(?:y|ies)\b"
    r"|\bundefined symbol\b|\bGLIBC(?:XX)?_\d|\b(?:wanted|expected|supported) version\b"
    r"|\bCUDA (?:is|was) not available\b"
    r"|\b(?:failed|unable) to import\b|\b(?:could not|couldn't|cannot|can't|can not) import\b"
    r"|(?:>=?|<=?|==|~=) ?v?\d+\.\d+\.\d+|\b"
    + PRODUCT
    + r"\b[`'\" ]{0,2}(?:version )?(?:is |must be )?(?:>=?|<=?|==) ?v?\d"
    r"|\b" + PRODUCT + r" (?:version )?v?\d+\.\d+[\w.]*(?:\+| or (?:later|newer|higher|above|greater))"
    r"|\brequires? " + PRODUCT + r" (?:version )?v?\d"
    r"|\bversions? (?:of [\w.-]+ )?(?:>=?|<=?|==|at least )|\b(?:requires?|needs?|supports?|only|expected|wants?"
    r"|minimum) [^\n]{0,60}?\bversion v?\d+\.\d+|\bminimum (?:required )?version\b"
    r"|\b(?:too old|outdated|newer version|older version|incompatible version|version mismatch|unsupported version)\b"
    r"|\bversions?\b[^\n]{0,40}\b(?:incompatible|not compatible|unsupported|not supported|sufficient)\b"
    r"|\bincompatib\w+[^\n]{0,40}\bversions?\b"
    r"|\bcompute capabilit(?:y|ies)\b|\b(?:sm_?\d{2,3}[af]?|gfx\d{3,4}\w?)\b|\b(?:Hopper|Blackwell|Ampere|Volta"
    r"|Turing) (?:GPU|architecture|or)"
    r"|\bnot supported (?:on|by) (?:this|your|the current) (?:device|platform|gpu|hardware|system|machine|architecture)\b"
    r"|\bnot supported (?:on|by) (?:\w+ ){0,3}(?:gpus?|architectures?|cards?)\b"
    r"|\b(?:module|package|library) is not available\b"
    r"|\b(?:compiled|built) (?:without|with no)\b|\bno plugins available\b|\bcan(?:'t|not) load plugin\b"
    r"|\b"
    + PRODUCT
    + r"(?:\.distributed)? (?:is|are) not available\b|\b(?:needed|required)\b[^\n]{0,40}\bit is not available\b"
    r"|\bnon-cuda (?:environment|device|system)\b"
    r"|\bno (?:gpu|cuda|hip|xpu|npu|tpu)s?(?: devices?)? (?:(?:is|are|was|were) )?(?:available|found|visible|detected)\b"
    r"|\b(?:changed|introduced|added) (?:since|in|as of) (?:\w+ )?version v?\d|\binstallation error\b"
    r"|\bno compatible [\w ]{1,30} (?:binary|library|build|wheel)\b|\bmissing [\w-]+ installation\b"
    r"|\b(?:error|fail(?:ed|ure)) (?:while |when |to )?install(?:ing)?\b"
    r"|\b[\w.-]+ (?:package|library) is (?:required|needed)\b"
    r"|\b(?:wire|protocol|schema|format|api|abi|rpc)[ -](?:format |protocol )?versions?\b[^\n]{0,60}?\b(?:is not|isn't|newer|older"
    r"|unsupported|mismatch\w*|differs?|expected|instead of|but)\b"
    r"|\b(?:newer|older) than (?:this|the|my|our) (?:reader|client|server|build|binary|library|release|program|version)\b"
    r"|\b(?:speaks?|understands?|reads|written with) (?:the )?(?:\w+ )?(?:protocol|format)s? (?:version )?v?\d",
    "install", "importable", "compiled", "built", "upgrad", "updat", "downgrad", "recompil", "build", "version",
    "cannot open shared object file",
    "librar", "undefined symbol", "glibc", "not available", " import", ">", "<", "==", "~=", "+", " or later", " or newer", " or higher",
    " or above", " or greater", "requires", "require ", "too old", "outdated", "incompatib", "capabilit", "sm",
    "gfx", "hopper ", "blackwell ", "ampere ", "volta ", "turing ", "not supported ", "no plugins available", "load plugin",
    "newer than ", "older than ", "protocol", "format", "non-cuda ", "no gpu", "no cuda", "no hip", "no xpu", "no npu", "no tpu",
    "no compatible ", "required", "needed",
)  # fmt: skip
"""Something is not installed, or not of the version, or not for the hardware."""
TWO_VERSIONS = r"\b([a-z][\w-]{2,}) v?\d+\.\d+\.\d+(?![.\d])[^\n]{1,80}\b\1 v?\d+\.\d+\.\d+(?![.\d])"
"""One thing in two versions."""

HUB = (
    r"(?<![-\w])gated (?:repo\w*|models?|datasets?|access)\b|\bis gated\b|\bprivate (?:repo\w*|dataset|model|or gated)\b"
    r"|\bhf auth login\b|\bhuggingface-cli login\b|\bwandb login\b"
    r"|\b(?:api[_ -]?key|(?:access|auth|oidc|hf|api|bearer|refresh|write)[ _]tokens?|id tokens?|HF_TOKEN)\b"
    r"|\bcredentials\b|\b(?:un)?authori[sz]ed\b|\bauthenticat\w+"
    r"|\b(?:on|from|to|in) (?:the )?(?:hugging ?face )?hub\b|\bhuggingface\.co\b(?!/docs)"
    r"|\btoo many requests\b|\brate limit|\bpayment required\b|\binsufficient[_ ](?:quota|balance|credits?)\b"
)
"""Somebody is asked for something who wants to know by whom."""
TURNED_AWAY = (
    r"\b(?:40[123]|429) (?:client |http )?(?:error|unauthori[sz]ed|forbidden|payment required|too many requests)\b"
    r"|\b(?:error|status) code:? (?:40[123]|429)\b|\bHTTP(?:/\d\S*)?(?: error| status)?:? (?:40[123]|429)\b"
)
"""The statuses of HTTP for those who are not known, have not paid, may not or ask too often."""

CHECKPOINT = (
    r"(?<!activation )(?<!gradient )\b(?:checkpoints?|ckpts?|state[_ ]?dicts?)\b|\bsafetensors\b|\boptimizer states?\b"
    r"|\bstate_dict\("
)
UNFIT = (
    r"\b(?:missing|mismatch\w*|unexpected|corrupt\w*|damaged|incomplete|absent|not found|no such|could ?n[o']t|cannot|can't|fail\w*"
    r"|does ?n[o']t (?:exist|match|contain|have)|do not (?:exist|match)|not (?:present|contain\w*|match\w*|consistent|complete)"
    r"|unsupported|invalid|unknown|unrecogni[sz]ed|differ\w*|error|must (?:be|have|match)|malformed|truncated|premature|bad|empty"
    r"|has no|no (?:samples|data|files|valid|shards|records|documents|rows|images|clips|\w+ files)|wrong|expected|checksum)\b"
)
"""What is said of a file, or of what is in it, that cannot be used."""
DATA = (
    r"\b(?:datasets?|data ?loaders?|data files?|manifests?|parquet|jsonl|tar (?:file|archive)s?|corpus|samples|records?|annotations?"
    r"|webdataset|tfrecords?|(?:data|mds) shards?|shards? (?:\d+|files?|index)|no shards"
    r"|(?:train\w*|validation|test|eval\w*) (?:splits?|set)|[\w./-]+\.tar)\b"
)

PLACE_FILES = (
    r"/\w*(?:arguments?|args|arg_utils|configs?|configuration|config_\w+|configuration_\w+|options?|settings?|launch(?:er)?|cli|flags"
    r"|hparams|validat(?:e|or|ors|ion)|yaml\w*|hydra\w*|parser|dataclasses)\.py$"
    r"|/(?:configs?|configuration|cli|launcher|launch|arguments|args|hparams|commands)/"
)
PLACE_CALLS = (
    r"^_*(?:validate|verify|sanity)(?:_|$)|^_*check_(?:\w*_)?(?:args?|arguments?|configs?|cfg|params?|parameters|settings?"
    r"|options?|compat\w*|support\w*)$"
    r"|^__post_init__$|^model_post_init$|^_*parse_(?:\w*_)?(?:args?|arguments?|known_args|config\w*|cli\w*|options?"
    r"|flags?)\w*$|_validator$|_sanity_check\w*$|_validate_(?:args|arguments|config\w*|settings|values|options)$"
    r"|^_*(?:init|get|load|read|build|create|make|update|set|setup|finalize|resolve|process|override|merge|adjust|normalize|prepare)_"
    r"(?:\w*_)?(?:args?|arguments?|configs?|cfg|options|settings|flags)$|^from_(?:\w+_)?config$"
)
"""Where programs look at how they were started."""
RUNNING = (
    r"^(?:_*(?:forward|backward|kernel)\w*|apply|\w*_(?:forward|backward|fwd|bwd)|step|__call__|__getitem__|__torch_\w+__"
    r"|training_step)$"
)
"""The work itself, where what is wrong came with the data or the model."""

SETTINGS = _long(
    r"(?:^|[\s`'\"(=\[])--[a-z][\w-]{2,}|\b(?:un(?:recognized|supported|known)|invalid|illegal) (?:\w+ ){0,3}"
    r"(?:arguments?|options?|choices?|flags?|config\w*|settings?|command|modes?|backends?|types?|strategy|policy|methods?"
    r"|algorithm|format|value|scheduler|optimizer)\b"
    r"|\b(?:config(?:uration)?s?|cfg|settings?|hyper-?parameters?|yaml|command line|environment variable|env var)\b"
    r"|\bmutually exclusive\b|\bnot both\b|\b(?:only|exactly|at most|at least|either) one of\b|\bspecify (?:either|only|one)\b"
    r"|\b(?:not|is ?n[o']t|are ?n[o']t) (?:currently |yet )?(?:supported|compatible|allowed|implemented|available|valid) "
    r"(?:yet )?(?:with|when|together|for|by|in|if|without|unless|while|under|on|at)\b|\b(?:not|n't) (?:currently "
    r"|yet )?(?:supported|implemented)\b|\b(?:is|are) not (?:set|enabled|configured)\b|\bincompatible with\b"
    r"|\bconflicts? with\b|\bconflicting\b|\b(?:less|smaller|lower|fewer) than (?:the )?min(?:imum)?\b"
    r"|\b(?:greater|larger|higher|more) than (?:the )?max(?:imum)?\b"
    r"|\b(?:can ?not|can't|may not|must not|should not|shouldn't|could not) be (?:used|both|negative|zero|empty|an empty"
    r"|combined|set|enabled|specified|passed|provided|mixed|applied|simultaneous\w*|greater|less|larger|smaller)\b"
    r"|\bcannot (?:use|combine|specify|set|enable|mix)\b|\bdo(?:es)?(?:n't| not) (?:yet |currently )?(?:support|work with|work when)\b"
    r"|\b(?:only|currently) (?:supports?|supported|works?|available|implemented|allowed|compatible)\b|\b(?:supported|allowed"
    r"|available|valid|possible|known) "
    r"(?:\w+ ){0,2}(?:are|is|values|options|choices|names|modes|types|methods|keys)\b|\bcan only (?:be|use|support)\w*\b"
    r"|\b(?:must|should|need(?:s)? to|ha(?:s|ve) to|ought to) (?:also |either |both |always |currently )?(?:be|set|match"
    r"|divide|equal|use|specify|provide|choose|have|define|enable|disable|contain)\b"
    r"|\bplease (?:set|specify|provide|use|choose|select|enable|disable|pass|remove|unset|turn|define|check your|make sure"
    r"|increase|reduce|decrease)\b"
    r"|\b(?:is|are) (?:required|mandatory|obligatory|needed)\b|\brequires?\b|\bnot (?:evenly )?divisible\b|\bmultiple of\b"
    r"|\bdisable \w+(?: \w+)? (?:when|if|before|to)\b"
    r"|\b(?:unknown|unsupported|invalid|unrecogni[sz]ed|unexpected|illegal|undefined|no such) [\w ./-]{1,40}(?:: |=|'|\")"
    r"|\bgot an invalid value\b|\bchoose (?:from|between|one|a|either)\b|\bexpected one of\b|\b(?:expected"
    r"|got) .{1,60} (?:one of|in) [\[({]"
    r"|\b(?:unknown|unsupported|unrecogni[sz]ed) \w+|\ballows? only\b|\bonly applies\b|\bmake sure\b|\bexceeds?\b"
    r"|\byou (?:must|need to|have to|should|can't|cannot|can not)\b|\b(?:is|are|was) (?:greater|larger|bigger|higher|smaller"
    r"|less|lower|more|longer) than\b"
    r"|\bdid you mean\b|\bhas been removed\b|\bno longer supported\b|\bset `?\w+[`=]|\b\w+=(?:True|False)\b"
    r"|\bis not (?:a )?(?:valid|supported|recogni[sz]ed|known)\b"
    r"|\bdoes not match (?:the )?(?:number|length|world)|\bhas no effect\b|\bconfigured\b",
    "--", "unrecogni", "support", "unknown", "invalid", "illegal", "config", "cfg", "setting", "parameter", "yaml", "command line",
    "environment variable", "env var", "mutually exclusive", "not both", " one of", "specify ", "compatible", "allow", "implemented",
    "available", "valid ", "valid with", "is not ", "are not ", "conflict", " than", "can not ", "cannot ", "can't ", "may not ",
    "must ", "should", "could not be ", "works ", "work with", "work when", "currently ", "possible ", "known ", "can only ", "need",
    "has to ", "have to ", "ought to ", "please ", "mandatory", "obligatory", "require", "divisible", "multiple of", "disable ",
    "unexpected ", "undefined ", "no such ", "choose ", "expected ", "got ", "only ", "make sure", "exceed", "you ",
    "did you mean", "has been removed", "no longer ", "set ", "=true", "=false", "does not match ", "has no effect",
)  # fmt: skip
"""What is said of settings: what they must be, what goes with what, and which values there are."""

FEATURES = (
    r"\b(?:\w*parallel\w*|[TPDEC]P|[tpdec]p_size|fsdp2?|zero[- ]?[0-3]|ddp|lora|q-?lora|dora|quantiz\w+|fp(?:4|8|16|32)|bf16"
    r"|int[48]|cuda[ _-]?graphs?"
    r"|recomput\w+|offload\w*|checkpointing format|mixed[ _]precision|torch[ ._]compile|\w*batch[ _]size|micro[ _]?batch\w*"
    r"|num_\w*(?:heads|layers|experts|stages|groups)"
    r"|hidden_size|vocab_size|world[ _]size|speculative|attention backend|attn[ _]backend|flash[ _-]?(?:attention|attn"
    r"|decode)|moe|experts?|optimizer|schedul\w+"
    r"|rope|backend|mode|loss_?type|pipeline|virtual|activation checkpoint\w*|gradient[ _](?:accumulation|checkpoint\w*"
    r"|clipping)|kv[ _-]?cache|adapter\w*)\b"
)
"""What is switched on by settings."""
FLAG = r"(?:^|[\s`'\"(=\[])--(?:[a-z]|\d+[a-z])[\w-]{2,}"
VARIABLE = (
    r"(?:[Ee]nvironment variable )?[`'\"]?[A-Z][A-Z0-9]*_[A-Z0-9_]+[`'\"]?(?: ['\"=]|=| (?:must|should|is|has|needs|cannot"
    r"|can't)\b)"
)
"""An environment variable that a message begins with."""
TOGETHER = (
    r"\bmutually exclusive\b|\bnot both\b|\b(?:can ?not|can't|may not) be (?:used|combined|set|enabled|mixed|specified"
    r"|both)\b|\bin(?:compatible| conflict) with\b"
    r"|\bnot compatible with\b|\bconflicts? with\b"
)
"""Settings that do not go together."""
BROKEN = (
    r"\b(?:missing|mismatch\w*|corrupt\w*|damaged|incomplete|truncated|not found|no such|does(?: not|n't) (?:exist|match)"
    r"|unexpected|error"
    r"|has no|shapes?|keys?)\b"
)
"""What is said of a checkpoint that does not fit or is not whole."""
CHOICES = (
    r"\b(?:available|supported|valid|possible|allowed|known|permitted) (?:\w+ ){0,3}?(?:are|is|include|in)\b"
    r"|\bsupports? (?:\w+ ){1,3}in [\[({]|\b(?:available|supported|valid|possible|allowed|known|permitted) \w+:|\b(?:must"
    r"|should) be (?:one of|in [\[({]|either '|'\w+' or)"
    r"|\b(?:expected|choose|use|select|supports? only|only supports?) (?:one of|from|between|either)\b"
)
"""The values that there are."""
LOW = r"/(?:kernels?|ops|cute|csrc|triton\w*|cutlass\w*|_?src/lax|pallas)/"
"""Code below any setting: it knows tensors only."""
ASKED_OF_DATA = (
    r"\bplease (?:use|specify|provide|pass)\b|\bnot both\b|\beither\b|\bonly one of\b|\bat most one\b|\bmust be (?:>|greater"
    r"|positive|an? (?:positive|int))"
    r"|\b(?:arguments?|parameters?|num_proc|batch[ _]size)\b|\bnot implemented\b"
)
"""What is said of how data is asked for, not of the data."""
BROUGHT = r"\b(?:fail\w*|download\w*|\w*error|corrupt\w*|not found|could ?n[o']t|truncated)\b"

TENSORS = (
    r"\bparameters and buffers on device\b|\bdtypes?:? [`']?(?:torch\.)?\w+[`']? (?:but|and) (?:expected|got|found)\b"
    r"|\b(?:scalar type|data type|dtype) \w+,? but\b|"
    r"\b(?:(?<!per[ _-])tensors?(?![ _-]+(?:model[ _-]+)?parallel)|ndarrays?|contiguous)\b|\bndim\b|\b[1-5]-?D\b"
    r"|\b(?:two|three|four)-dimensional\b"
    r"|\b(?:same|different|incorrect|wrong|unexpected|incompatible) (?:length|size|shape|device|dtype|number of elements"
    r"|buffer size|dimension)s?\b"
    r"|\b(?:shapes?|lengths|dims?|dimensions|strides?) (?:mismatch\w*|don't|do not|does not|must (?:be|match)"
    r"|should (?:be the same|match)|are negative|\(?\[|torch\.Size)"
    r"|\b(?:infer|determine|guess) (?:the )?(?:number of )?(?:channels?|shapes?|dim(?:ension)?s?|dtypes?|layout)\b"
    r"|\bshape=|torch\.Size|\.shape\b|\bshape[: ]|\b(?:input_ids|position_ids|token_ids|attention_mask|loss mask|logits"
    r"|labels|latents?|hidden_states|pixel_values"
    r"|image tokens|pad tokens|spectrogram|query positions|embeddings match)\b|\bmust be (?:an? )?(?:float|bfloat|int|uint"
    r"|fp|bf)(?:4|8|16|32|64)\b"
)
"""What is said of tensors."""
OBJECTS = _long(
    r"\b(?:callable|nn\.Module|decorator)\b|\binstances? of\b|\btype\(|\b(?:same|different|incorrect|wrong|unexpected"
    r"|incompatible) types?\b|\bmismatch\b|\bhas no (?:attribute|method)\b"
    r"|\b(?:not|n't) (?:been |yet )?(?:initiali[sz]ed|registered|called|prepared|started|setup|set up)\b|\bis not initiali[sz]ed\b"
    r"|\balready (?:been )?(?:called|initiali[sz]ed|registered|started|closed|exists|in)\b|\buse \w+\.init\(|\bcalled? \S+\("
    r"|\bcall(?:ing)? [`'\w.]+\(?\)?[`']? (?:first|before)"
    r"|\b(?:before|after|when|while) calling\b|\bdo(?:es)? ?n[o']t implement\b"
    r"|\bmust be called\b|\bshould not be called\b|\bsubclass\w*\b|\boverrid\w+\b"
    r"|\bmust (?:implement|return|produce)\b|\bshould implement\b"
    r"|\bexpect(?:s|ed|ing)?\b.{1,80}\b(?:but )?(?:got|received|found|instead)\b|\bexpects? (?:an?|input|another|to|the)\b"
    r"|\bexpected \w+ to be\b"
    r"|\bforgot to call\b|\breceived `?None\b"
    r"|\b(?:must|should|ha(?:s|ve) to) be (?:an? |of type |either an? |an? \w+ )?(?:list|dict|dictionary|tuple|function"
    r"|class|module|object|Tensor|\w*Tensor|\w*Dict|sequence|iterable|mapping|instance"
    r"|str|strings?|bool|boolean|integers|scalar|unique)\b|\bcan(?:not|'t) (?:convert|cast|divide)\b|\bdo(?:es)?(?:n't"
    r"| not) have (?:an? )?\S+ (?:method|attribute)\b"
    r"|\bmissing \d+ required\b|\bcan(?:not|'t| not)? be None\b|\b(?:should not|must) be None\b|\bNone\b.{0,20}\bgot\b"
    r"|\b(?:input|output)s? (?:type|value|features?|list|size|tensor|must|should|data)\b"
    r"|\bmust be (?:provided|passed|specified) (?:to|when calling|if|either)\b.{0,20}\(|\bmust be built before\b"
    r"|\b(?:used|called|created|accessed) (?:outside|inside|within)\b|\b(?:after|before) (?:close|closing|being closed)\b"
    r"|\b(?:is|are|was|has been|have been) (?:already )?(?:closed|finali[sz]ed|frozen|shut down)\b|\b(?:read|write)-only mode\b"
    r"|\bdid you (?:forget|call)\b"
    r"|\binternal error\b|\bmethod not implemented\b|\bshould (?:not )?have (?:been|run|reached|called|scheduled)\b"
    r"|\bthis (?:is a bug|should not happen|should never)\b|\bwhen (?:out|[a-z_]+_state) is (?:None|not)\b",
    "nn.module", "decorator", "instance", "type", "mismatch", "has no ", "initiali", "registered", "prepared",
    "started", "setup", "set up", "already ", ".init(", "call", "implement", "subclass", "overrid", "must ", "should ",
    "has to be", "have to be", " is not", "expect", "received ", "can't ", "cannot ", "can not ", "n't have ", "not have ", "missing ",
    "none",
    "input", "output", "internal error", "forgot to call", "this is a bug", "outside", "inside", "within", "clos", "finali", "frozen",
    "shut down", "-only mode", "did you ",
)  # fmt: skip
"""What is said of the objects that a call was given, or of calls out of order."""
ABSENT = (
    r"\b(?:files?|paths?|director(?:y|ies)|folders?|templates?)\b[^\n]{0,120}\b(?:not (?:found|exist)|doesn't exist|missing|no such)\b"
    r"|\b(?:could not|couldn't|cannot|can't|unable to) find (?:the |a |any )?(?:files?|paths?|director|folders?)"
)
"""A path that was given leads nowhere."""
DEVICE = (
    r"\b(?:cuda|cu|hip|cublas\w*|cudnn|cufft|cusolver|cusparse|nvrtc)[A-Z]\w+(?:\([^)\n]*\))? ?(?:call )?(?:has )?(?:failed"
    r"|returned|error)"
    r"|\b(?i:cuda|hip) (?:driver |runtime )?(?i:errors?)\b ?[:=(]? ?\w|\bcudaError(?:_t)?\b ?[=:]|\b(?:CUDA|HIP)_ERROR_\w+"
    r"|\bcu(?:BLAS|DNN|FFT)\b[^\n]{0,30} failed\b|\bACL \w+ \w+ failed\b"
)
"""A call of the CUDA libraries came back with an error."""
DEVICE_FULL = (
    r"ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|\bcudaMalloc(?:Async|Managed)?\b|\bout of memory\b"
)
NVML = r"\bNVML\b[^\n]{0,40}\b(?:fail|error)|\bfailed to initiali[sz]e NVML|\b(?:CUDA|driver) failed to initiali[sz]e\b"
DRIVER = (
    r"\bNVML\b|\bfailed to initiali[sz]e\b|ERROR_(?:NO_DEVICE|SYSTEM_\w+|COMPAT_\w+|NO_BINARY\w*|UNSUPPORTED_PTX\w*"
    r"|INVALID_PTX|STUB_LIBRARY|NOT_INITIALIZED)"
    r"|cudaError(?:InsufficientDriver|NoDevice|System\w+|NoKernelImage\w*)|\bcuGetProcAddress\b"
)
NO_ROOM = (
    r"\b(?:disk quota exceeded|no space left on device|read-only file system|stale (?:nfs )?file handle|input/output error"
    r"|transport endpoint is not connected|structure needs cleaning)\b|\bpermission denied:? ['\"/]"
    r"|\bonly [\d.]+ ?[kmgt]i?b (?:is |are )?(?:free|left|available) (?:on|in|under) ['\"]?/(?!dev/shm)"
    r"|\b(?:mkdir|cp|mv|touch|ln|tar|rsync|tee|install)\b: [^\n]{1,200}: permission denied\b"
    r"|\b(?:is|are) not writable\b|\bno writable director|\bfind a writable director|\b(?:not|n't) have write permissions?\b"
)
"""How operating systems say that a file system does not do what it is asked."""
UNREADABLE = (
    r"\b(?:cannot|can't|could not|couldn't|failed to|unable to) (?:read|decode|parse|open)\b[^\n]{0,120}"
    r"\.(?:idx|bin|tar|parquet|arrow|jsonl|np[yz]|h5|hdf5|mds|rec|tfrecord|lmdb|jpe?g|png|wav|flac|mp[34]|csv|zst)\b"
    r"|\.(?:idx|tar|parquet|arrow|jsonl|npy|mds|rec|tfrecord|lmdb|jpe?g|png|tiff?|webp|wav|flac|mp[34]|csv)\b[^\n]{0,120}?"
    r"\b(?:truncated|corrupt\w*|damaged|malformed|ends? (?:early|after|before|too soon)|premature\w*|unexpected end|short read"
    r"|bad (?:magic|header|checksum|crc)|(?:crc|checksum)\b[^\n]{0,20}\b(?:mismatch|fail\w*|wrong|differs?)|is empty)\b"
)
NO_ANSWER = (
    r"\b(?:connection refused|no route to host|network is unreachable|connection reset by peer|broken pipe|name or service not known"
    r"|temporary failure in name resolution|nodename nor servname|certificate verify failed)\b"
    r"|\b(?:HTTP(?:/\d\S*)?(?: error| status)?:? 50[0234]\b|50[0234] (?:server error|internal server error|bad gateway"
    r"|service unavailable|gateway time-?out)\b)"
)
"""How operating systems say that nobody answers."""
UNREACHED = (
    r"\btimed out (?:while |when |trying to )?connect(?:ing)?\b"
    r"|\b(?:connections?|sessions?|tunnel) (?:\S+ )?(?:was |were |has been |is )?(?:refused|failed|lost|reset|closed|broken"
    r"|aborted|timed out|error)\b"
    r"|\b(?:fail\w*|unable|could not|couldn't|cannot|can't) (?:to )?(?:re)?connect\b|\bhost (?:is )?unreachable\b"
    r"|\bcan(?:not|'t) be reached\b"
)
LATE = (
    r"\btimed[ -]?out\b|\btimeout (?:of|after|while|waiting|reached|exceeded|expired|period|\()|\b(?:within|before) (?:the )?timeout\b"
    r"|\block\b[^\n]{0,80}\bcould not be acquired\b"
    r"|\b(?:wait(?:ing)?|sync\w*|barrier|collective|handshake|heartbeat|response|request|operation|read|recv|send"
    r"|communication) time-?out\b"
)
ABOUT_TIMEOUTS = (
    r"\btime_?outs?\w*[`'\"]? (?:must|should|can|value|argument|has to|is (?:not|required))|\bset_timeout\b"
)
RUNS_OUT = (
    r"\b(?:gpu|device|accelerator|cuda|vram|hbm)\b[^\n]{0,30}\bmemory\b[^\n]{0,40}\b(?:not enough|insufficient|exhausted|ran out)"
    r"|\b(?:no|not) enough (?:gpu|device|cuda) memory\b|\binsufficient (?:(?:gpu|device|cuda) memory|memory on (?:gpu|device"
    r"|accelerator))\b"
)
