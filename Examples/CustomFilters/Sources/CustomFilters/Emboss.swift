import SidelightServer

/// A neighbourhood kernel: a function of a pixel's neighbours within a declared reach. Edge pixels
/// repeat beyond the frame.
struct Emboss: NeighborhoodKernel {
  var reach: Int { 1 }

  func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
    let slope = window[1, 1].luma - window[-1, -1].luma
    // Middle grey; in pictures with alpha, colour is premultiplied, and grey is 0.5 * alpha.
    let gray = slope + 0.5
    return Pixel(red: gray, green: gray, blue: gray, alpha: window[0, 0].alpha)
  }
}
