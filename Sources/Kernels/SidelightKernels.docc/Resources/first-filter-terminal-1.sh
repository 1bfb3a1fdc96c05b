ffmpeg -i video.mp4 -pix_fmt yuv420p input.y4m
sidelight stream input.y4m output.y4m --server 127.0.0.1:50051 \
  --pipeline "scanlines, vignette(intensity: 1)"
