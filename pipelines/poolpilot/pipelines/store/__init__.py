"""Records: immutable segments, the data sets and views made of them."""
