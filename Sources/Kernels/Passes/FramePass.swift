/// A user's function of a whole frame.
struct FramePass: Pass {
  let description: PassDescription
  let color: ColorDescription
  let body: @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void

  func run(_ context: PassContext) async throws {
    let input = context.inputs[0].frame(color: self.color, orientation: .upright)
    var output = context.output.mutableFrame(color: self.color)
    try self.body(input, &output, context.moment)
  }
}
