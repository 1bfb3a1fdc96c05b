import FuzzDriver
import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import SwiftProtobuf

// Decodes a pipeline message, and compiles a plan for a small frame. The first byte selects
// the format. An accepted pipeline must survive encoding and decoding, and its plan must respect
// the memory limit and produce valid frames.

let maxPlanBytes = 1 << 22
let size = FrameSize(width: 33, height: 17)

let catalogue: FilterCatalogue = {
  var catalogue = FilterCatalogue.builtIn
  let pool = BufferPool()
  guard
    let picture = try? pool.makeFrame(
      FrameGeometry(format: .rgba8, size: FrameSize(width: 5, height: 3))
    ).finish(),
    let image = try? ImageAsset(picture)
  else { preconditionFailure("the image asset is invalid") }
  catalogue.assets = AssetStore(["photo": .image(image)])
  return catalogue
}()

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let first = bytes.first,
    let wire = try? Sidelight_V1_Pipeline(serializedBytes: Array(bytes.dropFirst())),
    let pipeline = try? Pipeline(wire)
  else { return }
  let text = pipeline.text
  let again = try? Pipeline(Sidelight_V1_Pipeline(pipeline))
  // NaN is not equal to itself.
  precondition(
    again == pipeline || text.contains("nan"), "the message contains another pipeline: \(text)")
  guard let resolved = try? catalogue.resolve(pipeline) else { return }
  let formats = PixelFormat.allCases
  let geometry = FrameGeometry(format: formats[Int(first) % formats.count], size: size)
  let plan = resolved.plan(for: geometry, maxBytes: maxPlanBytes)
  precondition(plan.input == geometry)
  precondition(
    (try? FrameLayout(packed: plan.output.format, size: plan.output.size)) != nil,
    "no frame has the geometry \(plan.output)")
  if let refusal = plan.refusal {
    precondition(
      refusal.byteCount > maxPlanBytes && plan.passes.isEmpty, "refused within the limit")
  } else {
    // The limit does not count the overhead of a pass.
    precondition(
      plan.byteCost <= maxPlanBytes + 4096 * plan.passes.count, "the plan exceeds the limit")
  }
  _ = plan.description
}
