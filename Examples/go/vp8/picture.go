// Package vp8 encodes and decodes VP8 using libvpx. Pion carries encoded video only.
package vp8

// Picture is a picture in I420: luma, Cb and Cr, without padding.
type Picture struct {
	Width, Height int
	Pixels        []byte
}

// Size returns the number of bytes of a picture. Chroma has half the width and half the height,
// both rounded up.
func Size(width, height int) int {
	return width*height + 2*((width+1)/2)*((height+1)/2)
}

// IsKeyFrame returns whether a frame can be decoded without earlier ones.
func IsKeyFrame(frame []byte) bool { return len(frame) > 0 && frame[0]&1 == 0 }
