open("numbers.py", "w").write('"""Constants of the survey."""\nN_HOUSEHOLDS = 11821\nALPHA = 0.05\n')
