import SidelightKernelLanguage
import SidelightKernels

/// Images and tables that random chains name.
enum ChainAssets {
  static let images = ["sticker", "photo", "large"]
  static let cubes = ["cube", "curves"]

  /// The built-in catalogue, with the assets.
  static let catalogue: FilterCatalogue = {
    var catalogue = FilterCatalogue.builtIn
    let store = AssetStore()
    do {
      store.put(try Self.image(13, 11, .straight, seed: 5), named: "sticker")
      store.put(try Self.image(30, 20, .opaque, seed: 6), named: "photo")
      store.put(try Self.image(90, 50, .premultiplied, seed: 7), named: "large")
      store.put(.cube(try CubeFile.read(Array(Self.cubeText.utf8))), named: "cube")
      store.put(.cube(try CubeFile.read(Array(Self.curvesText.utf8))), named: "curves")
    } catch {
      preconditionFailure("\(error)")
    }
    catalogue.assets = store
    return catalogue
  }()

  /// A picture of noise.
  static func image(
    _ width: Int, _ height: Int, _ alpha: AlphaMode, seed: UInt64
  ) throws -> Asset {
    .image(
      try ImageAsset(
        try TestFrame.make(
          FrameGeometry(
            format: .rgba8, size: FrameSize(width: width, height: height),
            color: ColorDescription(alpha: alpha)), seed: seed)))
  }

  /// Three entries a side, bent a little.
  private static let cubeText =
    "LUT_3D_SIZE 3\n"
    + (0 ..< 27).map { index -> String in
      let (red, green, blue) = (Double(index % 3), Double(index / 3 % 3), Double(index / 9))
      return "\(red * 0.45 + 0.05) \(green * 0.4 + blue * 0.05) \(blue * blue * 0.2 + 0.1)"
    }.joined(separator: "\n")

  private static let curvesText =
    "LUT_1D_SIZE 5\n"
    + (0 ..< 5).map { "\(Double($0) * 0.2 + 0.1) \(Double($0 * $0) / 16) \(1 - Double($0) / 5)" }
    .joined(separator: "\n")
}
