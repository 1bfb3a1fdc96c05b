// The operations whose passes write by a ``LimitedFinish``.

extension BlurLeanOperation {
  var limitsLast: Bool { true }
}

extension ConvolutionOperation {
  var limitsLast: Bool { true }
}

extension LumaSharpenOperation {
  var limitsLast: Bool { true }
}
