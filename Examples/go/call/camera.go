package main

import "sidelight.example/go/vp8"

const (
	width, height = 320, 180
	// The top rows have the number of the picture, one block per bit.
	counterBits   = 16
	counterHeight = 44
	blockWidth    = width / counterBits
	dark, light   = 40, 200
)

// camera returns a grey picture with its number in the top rows, and the luma of the rest.
func camera(number int) (*vp8.Picture, int) {
	luma := 40 + (7*number)%160
	pixels := make([]byte, vp8.Size(width, height))
	for index := range pixels {
		switch x, y := index%width, index/width; {
		case index >= width*height:
			pixels[index] = 128
		case y >= counterHeight:
			pixels[index] = byte(luma)
		case number>>(counterBits-1-x/blockWidth)&1 == 1:
			pixels[index] = light
		default:
			pixels[index] = dark
		}
	}
	return &vp8.Picture{Width: width, Height: height, Pixels: pixels}, luma
}

// inspect returns the number in a picture, and the mean luma in the middle of the rest.
func inspect(picture *vp8.Picture) (number, luma int) {
	for bit := 0; bit < counterBits; bit++ {
		number <<= 1
		if mean(picture, bit*blockWidth+blockWidth/2, counterHeight/2) > (dark+light)/2 {
			number |= 1
		}
	}
	return number, mean(picture, picture.Width/2, (counterHeight+picture.Height)/2)
}

// mean returns the mean luma around a position.
func mean(picture *vp8.Picture, x, y int) int {
	const radius = 4
	sum, count := 0, 0
	for row := y - radius; row <= y+radius; row++ {
		for column := x - radius; column <= x+radius; column++ {
			sum += int(picture.Pixels[row*picture.Width+column])
			count++
		}
	}
	return (sum + count/2) / count
}
