package import SidelightKernels

extension Orientation {
  /// - Throws: ``FieldFault`` for a rotation that is no quarter turn.
  package init(_ wire: Sidelight_V1_Orientation) throws(FieldFault) {
    let turns =
      switch wire.rotation {
      case .unspecified: 0
      case .rotation90: 1
      case .rotation180: 2
      case .rotation270: 3
      case .UNRECOGNIZED(let value):
        throw FieldFault(field: "orientation.rotation", reason: "\(value) is no quarter turn")
      }
    self.init(quarterTurns: turns, isMirrored: wire.mirrored)
  }
}

extension Sidelight_V1_Orientation {
  package init(_ orientation: Orientation) {
    self.init()
    self.mirrored = orientation.isMirrored
    self.rotation =
      switch orientation.quarterTurns {
      case 1: .rotation90
      case 2: .rotation180
      case 3: .rotation270
      default: .unspecified
      }
  }
}
