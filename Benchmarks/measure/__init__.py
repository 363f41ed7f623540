"""What Benchmarks/run is made of."""
