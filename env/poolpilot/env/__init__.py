"""What a controller meets: knobs, the objective, pool servers, measurement and the gymnasium environments on them."""
