package import SidelightKernels
import SidelightScene
package import SidelightText

extension ChromaKeyOperation: ReferenceOperation {
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let guide = ReferenceGuide(planes, of: geometry)
    let matte = guide.pixels.map { pixel in
      (self.key(pixel / 255) * 255 + 0.5).rounded(.down) / 255
    }
    return ReferenceBlend(geometry: geometry, spill: self.spill) { x, y in
      MatteBackdrop.pixel(self.image, self.color, x: x, y: y)
    }(planes, by: guide.models(of: matte, self.guided))
  }
}

extension TextOperation: ReferenceDrawing {
  package func reference(
    _ picture: ReferencePicture, _ time: FrameTime, _ details: FrameDetails
  ) -> ReferencePicture {
    guard let plate = try? self.tools.renderer.render(self.complete(details)) else {
      return picture
    }
    var result = picture
    result.mapPixels { pixel, x, y in
      guard (plate.x ..< plate.x + plate.size.width).contains(x),
        (plate.y ..< plate.y + plate.size.height).contains(y)
      else { return pixel }
      let index = 4 * ((y - plate.y) * plate.size.width + x - plate.x)
      let text =
        SIMD4<Double>(
          Double(plate.pixels[index]), Double(plate.pixels[index + 1]),
          Double(plate.pixels[index + 2]), Double(plate.pixels[index + 3])) / 255 * self.opacity
      let under = pixel * (pixel.w * (1 - text.w))
      let alpha = text.w + pixel.w * (1 - text.w)
      guard alpha > 0 else { return .zero }
      return SIMD4(
        (text.x + under.x) / alpha, (text.y + under.y) / alpha, (text.z + under.z) / alpha, alpha)
    }
    return result
  }
}
