"""The demonstration: default, static best, cold climb, prediction and oracle on workloads nobody trained on."""
