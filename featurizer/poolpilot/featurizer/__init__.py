"""What a window of a pool server says about its workload: measures, features, profiles and records."""
