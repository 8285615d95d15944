"""What a receipt service and an operator use besides diagnoses: collecting, comparing, preflight."""
