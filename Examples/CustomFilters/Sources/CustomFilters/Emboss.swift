import SidelightServer

/// A neighbourhood kernel: a function of a pixel's neighbours. It states how far it looks; beyond the
/// frame's edges lie the pixels at the edges.
struct Emboss: NeighborhoodKernel {
  var reach: Int { 1 }

  func callAsFunction(_ window: PixelWindow, at place: Place) -> Pixel {
    let slope = window[1, 1].luma - window[-1, -1].luma
    // Colour is premultiplied here, and so is middle grey.
    let gray = slope + 0.5 * window[0, 0].alpha
    return Pixel(red: gray, green: gray, blue: gray, alpha: window[0, 0].alpha)
  }
}
