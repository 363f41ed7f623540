extension MPNS {
    /// What a notification is to the phone.
    enum Kind: Hashable {
        case tile
        case toast
        case raw

        /// By the target field; nil where that says nothing.
        init?(target: String) {
            switch target.lowercased() {
            case "token", "tile": self = .tile
            case "toast": self = .toast
            case "raw": self = .raw
            default: return nil
            }
        }

        /// By the class field, whose last digit tells it: the others tell when it is to be delivered.
        init?(classNumber text: String?) {
            guard let number = text.flatMap({ Int($0) }), (1...31).contains(number) else { return nil }
            switch number {
            case 1, 11, 21: self = .tile
            case 2, 12, 22: self = .toast
            default: self = .raw
            }
        }

        /// By the element that the notification's root holds, or the lack of it. What is no XML is raw.
        init(body: [UInt8]) {
            let names = XMLText.names(of: body, depth: 2).map { $0.lowercased() }
            switch names.first == "notification" ? names.dropFirst().first : names.first {
            case "tile": self = .tile
            case "toast": self = .toast
            default: self = .raw
            }
        }

        /// What the service calls it; nothing for a raw one.
        var target: String? {
            switch self {
            case .tile: "token"
            case .toast: "toast"
            case .raw: nil
            }
        }

        /// The class for delivery at once.
        var firstClass: Int {
            switch self {
            case .tile: 1
            case .toast: 2
            case .raw: 3
            }
        }
    }
}
