"""Masking: every common shape of a secret goes, everything that only looks like one stays.

The secrets are made up and put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.text import MASK, is_secret_name, mask

BODY = "aB3dE6gH9jK2" * 6
HEX = "0123456789abcdef" * 4
SLACK = "-".join(("xoxb", "123456789012", BODY[:24]))
JWT = ".".join(("ey" + "J" + BODY[:20], "ey" + "J" + BODY[:40], BODY[:43]))
PEM = "PRIVATE" + " KEY-----"


def fake(prefix: str, length: int = 36, alphabet: str = BODY) -> str:
    return prefix + alphabet[:length]


TOKENS = [
    (fake("hf" + "_", 34), "hf_***"),
    (fake("hf" + "_", 34, "abcdefghijklmnop" * 3), "hf_***"),
    (fake("hf" + "_", 12), "hf_***"),
    (fake("api_org" + "_", 34), "api_org_***"),
    (fake("sk" + "-", 48), "sk-***"),
    (fake("sk" + "-proj-", 60), "sk-proj-***"),
    (fake("sk" + "-ant-api03-", 60), "sk-ant-***"),
    (fake("sk" + "_live_", 24), "sk_live_***"),
    (fake("gh" + "p_"), "ghp_***"),
    (fake("gh" + "o_"), "gho_***"),
    (fake("gh" + "s_"), "ghs_***"),
    (fake("github" + "_pat_", 60), "github_pat_***"),
    (fake("gl" + "pat-", 20), "glpat-***"),
    (fake("AK" + "IA", 16, "ABCDEFGHIJKLMNOP2345"), "AKIA***"),
    (fake("AS" + "IA", 16, "ABCDEFGHIJKLMNOP2345"), "ASIA***"),
    (fake("AI" + "za", 35), "AIza***"),
    (fake("ya29" + ".", 60), "ya29.***"),
    (fake("GOC" + "SPX-", 28), "GOCSPX-***"),
    (SLACK, "xoxb-***"),
    (fake("nv" + "api-", 64), "nvapi-***"),
    (JWT, "eyJ***"),
    (fake("wandb" + "_v1_", 40), "wandb_v1_***"),
    (fake("npm" + "_"), "npm_***"),
    (fake("pypi" + "-", 60), "pypi-***"),
    (fake("dckr" + "_pat_", 27), "dckr_pat_***"),
    (fake("hvs" + ".", 40), "hvs.***"),
    (fake("r8" + "_", 37), "r8_***"),
    (fake("gsk" + "_", 50), "gsk_***"),
    (fake("dapi", 32, HEX), "dapi***"),
    (fake("tskey" + "-auth-", 30), "tskey-auth-***"),
    (fake("lsv2" + "_pt_", 40), "lsv2_pt_***"),
    (f"https://hooks.slack.com/services/T000/B000/{BODY[:24]}", "https://hooks.slack.com/services/***"),
    (fake("MUNGE" + ":", 60) + ":", "MUNGE:***"),
    (BODY[:40] + BODY[:36] + "+AS" + "tA" + BODY[:5] + "==", "***"),
]


@pytest.mark.parametrize(("secret", "shown"), TOKENS, ids=[shown for _, shown in TOKENS])
def test_tokens_with_a_shape_keep_only_their_prefix(secret: str, shown: str) -> None:
    assert mask(secret) == shown
    assert mask(f"[rank0]: login failed for {secret}, giving up") == (
        f"[rank0]: login failed for {shown}, giving up"
    )
    assert mask(f'"{secret}"') == f'"{shown}"'


ASSIGNMENTS = [
    ("HF_TOKEN=s3cret", "HF_TOKEN=***"),
    ("export HF_TOKEN=s3cret && python train.py", "export HF_TOKEN=*** && python train.py"),
    ("declare -x WANDB_API_KEY=" + '"' + HEX[:40] + '"', 'declare -x WANDB_API_KEY="***"'),
    (f"WANDB_API_KEY: {HEX[:40]}", "WANDB_API_KEY: ***"),
    ("AWS_SECRET_ACCESS_KEY=/ab+cd/ef", "AWS_SECRET_ACCESS_KEY=***"),
    ("aws_secret_access_key = /ab+cd/ef", "aws_secret_access_key = ***"),
    ("AWS_SESSION_TOKEN=" + BODY, "AWS_SESSION_TOKEN=***"),
    ("environ({'NGC_API_KEY': 'abc', 'PATH': '/bin'})", "environ({'NGC_API_KEY': '***', 'PATH': '/bin'})"),
    ("FERNET_KEY=abc123", "FERNET_KEY=***"),
    ("PGPASSWORD=hunter2", "PGPASSWORD=***"),
    ("MYSQL_PWD=hunter2", "MYSQL_PWD=***"),
    ("CI_PASS=hunter2", "CI_PASS=***"),
    ("PASSWORD=supersecret", "PASSWORD=***"),
    ("password=12345)", "password=***)"),
    ("DB_PASSWORD=a,b;c)d e", "DB_PASSWORD=*** e"),
    ("REDIS_PASSWORD='it is (odd)'", "REDIS_PASSWORD='***'"),
    ("password: hunter2", "password: ***"),
    ('{"password": "hun\\"ter2", "user": "bob"}', '{"password": "***", "user": "bob"}'),
    ('{\\"password\\":\\"hunter2\\"}', '{\\"password\\":\\"***\\"}'),
    ("{'api_key': 'abcdef'}", "{'api_key': '***'}"),
    ('apiKey="abcdef"', 'apiKey="***"'),
    ('"clientSecret":"abcdef"', '"clientSecret":"***"'),
    ("client-key-data: LS0tLS1CRUdJTg==", "client-key-data: ***"),
    ("token: " + BODY[:24], "token: ***"),
    ('"token": "abcdef.0123456789"', '"token": "***"'),
    ("--token abcdef.0123456789abcdef", "--token ***"),
    ("--hf-token=abcdef --tp 8", "--hf-token=*** --tp 8"),
    ("['--api-key', 'abcdef', '--tp', '8']", "['--api-key', '***', '--tp', '8']"),
    ('"--password","hunter2"', '"--password","***"'),
    ("('HF_TOKEN', 'abcdef')", "('HF_TOKEN', '***')"),
    ("- name: HF_TOKEN\n  value: abcdef", "- name: HF_TOKEN\n  value: ***"),
    ('{"name":"DB_PASSWORD","value":"abc"}', '{"name":"DB_PASSWORD","value":"***"}'),
    ('def run(password: str = "abcdef"):', 'def run(password: str = "***"):'),
    ("Authorization: Bearer abcdef1234", "Authorization: Bearer ***"),
    ("'Authorization': 'Basic dXNlcjpwYXNz'", "'Authorization': 'Basic ***'"),
    ("authorization=Bearer abcdef1234", "authorization=Bearer ***"),
    ("X-Api-Key: abcdef123456", "X-Api-Key: ***"),
    ("sent bearer " + BODY[:30], "sent bearer ***"),
    ("Cookie: session=abcdef; x=y", "Cookie: ***"),
    ("https://bob:hunter2@example.com/x", "https://bob:***@example.com/x"),
    ("git clone https://" + BODY[:20] + "@example.com/x", "git clone https://***@example.com/x"),
    ("redis://:hunter2@cache:6379/0", "redis://:***@cache:6379/0"),
    ("postgresql+psycopg://bob:hun/ter2@db/x", "postgresql+psycopg://bob:***@db/x"),
    ("https://bob:p@ss@example.com", "https://bob:***@example.com"),
    ("AccountName=a;AccountKey=abcdefgh==;Suffix=b", "AccountName=a;AccountKey=***;Suffix=b"),
    ("?sv=2022-11-02&sig=abcDEF%2Bghi1234567890&se=x", "?sv=2022-11-02&sig=***&se=x"),
    ("&X-Amz-Signature=" + HEX + "&x=1", "&X-Amz-Signature=***&x=1"),
    ("https://x/y?token=abcdef&model=z", "https://x/y?token=***&model=z"),
    ('{"auths":{"nvcr.io":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":{"nvcr.io":{"auth":"***"}}}'),
    ("machine api.wandb.ai login user password abcdef", "machine api.wandb.ai login user password ***"),
    ("wandb login --relogin " + HEX[:40], "wandb login --relogin ***"),
    ("curl -s -u bob:hunter2 https://x", "curl -s -u bob:*** https://x"),
    ("sshpass -p hunter2 ssh node", "sshpass -p *** ssh node"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), ASSIGNMENTS, ids=[shown for _, shown in ASSIGNMENTS])
def test_values_of_secret_names_go_and_the_names_stay(text: str, shown: str) -> None:
    assert mask(text) == shown
    prefixed = f"[default0]:[rank0]:[W1120 18:09:23.316101666 run.py:7] {text}"
    assert mask(prefixed) == prefixed[: -len(text)] + shown


def test_private_keys_go_whole_cut_or_on_one_line() -> None:
    body = "\n".join([BODY[:64]] * 3)
    begin, end = f"-----BEGIN RSA {PEM}", f"-----END RSA {PEM}"
    assert mask(f"a\n{begin}\n{body}\n{end}\nb") == f"a\n{begin}{MASK}{end}\nb"
    assert mask(f"a {begin}\n{body}") == f"a {begin}{MASK}"
    assert BODY[:32] not in mask(f"{body}\n{end}\nb")
    escaped = f'"private_key": "{begin}\\n{BODY}\\n{end}\\n", "client_email": "x"'
    assert BODY[:12] not in mask(escaped)
    assert '"client_email": "x"' in mask(escaped)


HARMLESS = [
    "NCCL_DEBUG=1 NCCL_IB_PKEY=0 NCCL_ASYNC_ERROR_HANDLING=1 TORCH_NCCL_BLOCKING_WAIT=0",
    "[1] is setting up NCCL communicator via c10d key-value store by key 'k', but store->get('k') got error",
    "Added key: store_based_barrier_key:1 to store for rank: 0",
    "wait timeout after 600000ms, keys: /default_pg/0//cuda//0",
    "max_tokens=4096 tokenizer=meta-llama/Llama-3-8B tokenizer_mode=auto num_tokens: 8192",
    "Decode batch. #running-req: 91, #token: 41822, token usage: 0.08, cuda graph: True",
    "Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, max_total_num_tokens=1204190",
    "pad_token='<pad>', eos_token=</s>, bos_token: <s>, image_token='<image>', eos_token_id=2",
    "KeyError: 'label'",
    "KeyError: ('0', 'labels')",
    "use_auth_token=True, token=None, api_key=None, token: False",
    "ncclCommInitRank comm 0x55d0c8f0 rank 0 nranks 8 commId 0x3fb2c2a1d0e9f1aa - Init START",
    "commit 0123456789abcdef0123456789abcdef01234567 on branch main",
    "sha256:" + HEX,
    "GPU-5a1e4b0c-1111-2222-3333-444455556666 at 0000:1b:00.0",
    "RuntimeError: Missing key(s) in state_dict: \"module.layers.0.weight\".",
    "    token = os.environ['HF_TOKEN']",
    "    client = Client(api_key=settings.api_key, password=self.password, token=token)",
    "def load(name: str, token: Optional[str] = None, password: str = None) -> None:",
    "Token is required (`token=True`), but no token found. Run `huggingface-cli login`.",
    "Unexpected token: } at line 3; API key: missing; password: ***",
    "PWD=/workspace OLDPWD=/root pwd: /workspace",
    "GOOGLE_APPLICATION_CREDENTIALS=/var/run/secrets/key.json SSH_KEY=/root/.ssh/id_rsa",
    "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token PASSWORD_FILE=/run/secrets/db",
    "HF_TOKEN=$HF_TOKEN --token ${TOKEN} password=<your password>",
    "ssh://git@github.com/org/repo git@github.com:org/repo.git",
    "tcp://10.0.0.1:29500 and http://localhost:8000/v1/models?x=a@b",
    "hf_hub_download hf_transformer_engine hf_checkpoint1000 hf_llama3_8b",
    "sk-learn-pipeline task-12345678901234567890 risk-free-1234567890123",
    "primary_key=7 cache_key=abcdef PUBLIC_KEY=abcdef sort_key: name",
    "--max-tokens 4096 --tokenizer meta/llama --eos-token </s> --ssl-keyfile /etc/x.pem",
    "Triton signature=*fp32,*fp32,i32,i32,i32,i32,i32 sig=SIGTERM signal=15",
    "failed bearer authentication, basic auth: disabled, Authorization: none",
    "mlx5_0: dest_rkey: 3120448, lkey: 0x1ff, qkey=0x11111111",
    "MASTER_PORT=29500 SLURM_STEP_LAUNCHER_PORT=40001 SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
    "Enter passphrase for key '/root/.ssh/id_rsa':",
    "forward_pass=3 pass=PassManager::run compat=1",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text) == text


def test_names_are_judged_by_their_words() -> None:
    assert is_secret_name("HF_TOKEN")
    assert is_secret_name("clientSecret")
    assert is_secret_name("--api-key")
    assert not is_secret_name("num_tokens")
    assert not is_secret_name("tokenizer")
    assert not is_secret_name("key")
    assert not is_secret_name("")


PIECES = st.sampled_from(
    [
        *("HF_TOKEN", "password", "--token", "=", ": ", " ", '"', "'", "\\", "://", "u:", "@", "***", "eyJ"),
        *("Bearer ", "-----BEGIN " + PEM, "-----END " + PEM, "hf_", "a", BODY, "\n", ",", ";", "&", "sig"),
        *("Cookie: ", "name: ", "value: ", "Authorization: ", "login a password ", "curl -u ", "postgres"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_masking_again_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * 20000, "token='" * 9000, "postgres://" * 6000, "-----BEGIN " * 5000 + PEM,
        "password=" + "," * 60000, "eyJ" + "aaaaaaaa." * 7000, "curl " * 13000 + "-u", " " * 65000 + "token=",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_hostile_repetition_is_survived(text: str) -> None:
    assert isinstance(mask(text), str)
