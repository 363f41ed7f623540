extension MPNS {
    /// The type of a notification: a tile, a toast, or raw data for the app.
    enum Kind: Hashable {
        case tile
        case toast
        case raw

        /// Determines the type by the target field; nil if the target is not a known type.
        init?(target: String) {
            switch target.lowercased() {
            case "token", "tile": self = .tile
            case "toast": self = .toast
            case "raw": self = .raw
            default: return nil
            }
        }

        /// Determines the type by the class field; nil if the text is not a number from 1 to 31.
        ///
        /// The classes 1, 11 and 21 are tiles; 2, 12 and 22 are toasts; all others up to 31 are raw notifications. The
        /// service delivers the classes from 11 within 450 seconds, and the classes from 21 within 900 seconds.
        init?(classNumber text: String?) {
            guard let number = text.flatMap({ Int($0) }), (1...31).contains(number) else { return nil }
            switch number {
            case 1, 11, 21: self = .tile
            case 2, 12, 22: self = .toast
            default: self = .raw
            }
        }

        /// Determines the type by the first child of the root element `Notification`. If the root element has another
        /// name, the root element itself determines the type. Any other body, including one that is not XML, is raw.
        init(body: [UInt8]) {
            let names = XMLText.names(of: body, depth: 2).map { $0.lowercased() }
            switch names.first == "notification" ? names.dropFirst().first : names.first {
            case "tile": self = .tile
            case "toast": self = .toast
            default: self = .raw
            }
        }

        /// The service's name for the type; nil for a raw notification.
        var target: String? {
            switch self {
            case .tile: "token"
            case .toast: "toast"
            case .raw: nil
            }
        }

        /// The class number with which the service delivers a notification of this type immediately.
        var firstClass: Int {
            switch self {
            case .tile: 1
            case .toast: 2
            case .raw: 3
            }
        }
    }
}
