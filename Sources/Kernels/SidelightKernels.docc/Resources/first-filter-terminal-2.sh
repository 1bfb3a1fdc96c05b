sidelight stream input.y4m output.y4m --server 127.0.0.1:50051 \
  --pipeline "scanlines(amount: 0.7), vignette(intensity: 1)"
