"""Methods judged live on workload files that anybody wrote, each choice on windows it was not made on."""
