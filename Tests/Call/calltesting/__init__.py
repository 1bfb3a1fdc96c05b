"""Code that the tests and the benchmark of calls share: a camera, a browser, a call, latencies."""
