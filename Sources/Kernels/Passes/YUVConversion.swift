import CKernels

/// How code values of a YUV format become RGB in 0 ... 1 and back.
///
/// With Kr and Kb of the matrix, full range: R = Y + 2 (1 - Kr) V, B = Y + 2 (1 - Kb) U, and G from
/// Y = Kr R + Kg G + Kb B; video range scales luma by 219/255 from 16, chroma by 224/255
/// (ITU-R BT.601 and BT.709). Chroma is taken to lie at the centre of its 2x2 pixels.
struct YUVConversion: Sendable {
  /// Code values to RGB.
  let toRGB: sl_yuv_to_rgb
  /// RGB to code values.
  let fromRGB: sl_rgb_to_yuv

  init(_ color: ColorDescription) {
    let (kr, kb): (Double, Double) =
      switch color.matrix {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      }
    let kg = 1 - kr - kb
    let (offset, lumaRange, chromaRange): (Double, Double, Double) =
      switch color.range {
      case .video: (16, 219, 224)
      case .full: (0, 255, 255)
      }
    self.toRGB = sl_yuv_to_rgb(
      luma_offset: Float(offset), luma_scale: Float(1 / lumaRange),
      red_v: Float(2 * (1 - kr) / chromaRange),
      green_u: Float(-2 * (1 - kb) * kb / kg / chromaRange),
      green_v: Float(-2 * (1 - kr) * kr / kg / chromaRange),
      blue_u: Float(2 * (1 - kb) / chromaRange))
    let u = chromaRange / (2 * (1 - kb))
    let v = chromaRange / (2 * (1 - kr))
    self.fromRGB = sl_rgb_to_yuv(
      luma: (Float(kr * lumaRange), Float(kg * lumaRange), Float(kb * lumaRange)),
      u: (Float(-kr * u), Float(-kg * u), Float((1 - kb) * u)),
      v: (Float((1 - kr) * v), Float(-kg * v), Float(-kb * v)),
      luma_offset: Float(offset))
  }
}
