/// A pass in its place in a plan.
package struct PlannedPass: Sendable {
  /// The work.
  package let pass: any Pass
  /// Which pictures it reads: 0 is the frame, n the result of the plan's pass n - 1.
  package let inputs: [Int]
  /// The layout of its result.
  package let layout: FrameLayout
  /// How its result's samples are stored.
  package var depth: SampleDepth
}
