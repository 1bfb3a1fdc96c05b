import SidelightKernels
import SidelightWire

extension Sidelight_V1_OutputSpec {
  init(_ options: OutputOptions) {
    self.init()
    switch options.format {
    case .raw(let format)?: self.format = Sidelight_V1_PixelFormat(format)
    case .jpeg?: self.format = .jpeg
    case nil: break
    }
    self.width = UInt32(clamping: options.width ?? 0)
    self.height = UInt32(clamping: options.height ?? 0)
    self.fit =
      switch options.fit {
      case .fit: .aspectFit
      case .fill: .aspectFill
      case .stretch: .stretch
      }
    self.upright = options.isUpright
    self.jpegQuality = UInt32(clamping: options.jpegQuality ?? 0)
  }
}
