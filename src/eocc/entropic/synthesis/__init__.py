"""p + data -> model: EOCC-1 and EOCC-2, as the paper describes them."""
