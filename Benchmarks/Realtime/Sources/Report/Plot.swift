/// Line plots side by side.
struct Plot: Sendable {
  struct Axis: Sendable {
    /// The quantity. The vertical axis has it in the panel's title, where it is horizontal.
    var label = ""
    var range: ClosedRange<Double>
    var ticks: [Double]
    var isLog = false
  }

  struct Series: Sendable {
    /// The name in the legend; `nil` omits the series.
    var name: String?
    /// The index of the colour.
    var color: Int
    var isDashed = false
    var points: [(Double, Double)]
  }

  /// A line across the plot.
  struct Reference: Sendable {
    var name: String
    var value: Double
  }

  struct Panel: Sendable {
    var title: String
    var x: Axis
    var y: Axis
    var series: [Series]
    var references: [Reference]
  }

  var title: String
  var subtitle: String
  var panels: [Panel]
}
