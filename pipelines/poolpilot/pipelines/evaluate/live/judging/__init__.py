"""How choices are judged: windows in turns, pools of their own, floors and what is censored."""
