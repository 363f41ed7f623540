/// The types of parameters. The raw values are PostgreSQL's numbers for these types, which never change.
enum ParameterType: UInt32, Sendable {
    case bool = 16
    case bytes = 17
    case int8 = 20
    case int4 = 23
    case text = 25
    case bools = 1000
    case bytesArray = 1001
    case int4s = 1007
    case texts = 1009
    case int8s = 1016
}
