package main

import (
	"sync"
	"time"

	"sidelight.example/go/bridge"
)

// camera sends the frames of a file at the file's rate, again and again. It cannot encode: a request
// for a key frame makes it skip to the next one of the file.
type camera struct {
	video  *video
	output *bridge.Writer

	mutex sync.Mutex
	skips bool
}

// skip makes the next frame a key frame.
func (c *camera) skip() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.skips = true
}

// capture sends frames until it is stopped, and returns their number.
func (c *camera) capture(stop chan struct{}) int {
	ticker := time.NewTicker(c.video.interval)
	defer ticker.Stop()
	position := 0
	for count := 0; ; count++ {
		select {
		case <-stop:
			return count
		case <-ticker.C:
			position = c.next(position)
			frame := c.video.frames[position]
			frame.Timestamp = uint32(firstTimestamp + count*ticksPerPicture)
			say("captured %d %d", count, position)
			if err := c.output.Write(&frame); err != nil {
				say("the camera failed: %v", err)
			}
			position++
		}
	}
}

// next returns the position of the next frame to send.
func (c *camera) next(position int) int {
	c.mutex.Lock()
	skips := c.skips
	c.skips = false
	c.mutex.Unlock()
	frames := c.video.frames
	position %= len(frames)
	// The first frame is a key frame.
	for skips && !frames[position].IsKeyFrame {
		position = (position + 1) % len(frames)
	}
	return position
}
