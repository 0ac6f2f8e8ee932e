"""The command `poolpilot search`: AutoTiKV's loop of data, process and controller on a server that it may change."""
