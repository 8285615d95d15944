"""From the chosen cause to what is told: origin, texts, evidence, the argument."""
