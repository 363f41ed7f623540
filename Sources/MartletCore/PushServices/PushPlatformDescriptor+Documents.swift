extension PushPlatformDescriptor {
    /// How a registration of the platform looks in XML documents.
    public struct RegistrationForm: Sendable {
        /// The parts of a template in addition to its body, in the order of the XML elements.
        public enum TemplateElement: Hashable, Sendable {
            /// `TemplateName`.
            case name
            /// A collection of headers: `ApnsHeaders` of `ApnsHeader`. All names of headers in it must begin with the
            /// prefix, otherwise the template is refused. It may be written even if it is empty.
            case headers(collection: String, item: String, prefix: String?, isAlwaysWritten: Bool)
            /// A text of `Template.options`, which becomes a field of the message. It may be written as `i:nil` if it
            /// is missing.
            case option(String, field: String, isAlwaysWritten: Bool)
        }

        /// The beginning of XML element names, before `RegistrationDescription`: `Apple`.
        public var element: String
        /// The elements of the handle in a registration, in order.
        public var handleElements: [String]
        /// Whether a registration may name a secondary tile, in the element `SecondaryTileName` after those of the
        /// handle.
        public var hasSecondaryTiles: Bool
        public var templateElements: [TemplateElement]
        /// Words, in lower case, by which the `User-Agent` identifies clients that cannot read registrations of the
        /// platform, and would fail on a whole feed that contains one. Feeds for these clients omit such registrations
        /// (NotificationHubs.md, section 16, trap 24).
        public var hiddenFrom: [String]

        public init(
            element: String, handleElements: [String], hasSecondaryTiles: Bool = false,
            templateElements: [TemplateElement] = [.name], hiddenFrom: [String] = []
        ) {
            self.element = element
            self.handleElements = handleElements
            self.hasSecondaryTiles = hasSecondaryTiles
            self.templateElements = templateElements
            self.hiddenFrom = hiddenFrom
        }
    }

    /// The telemetry element of the platform's outcome counts.
    public struct OutcomeCountsForm: Sendable {
        public var element: String
        /// The index of the element among those of all platforms, from 0 (NotificationHubs.md, section 8.1): a known
        /// client ignores elements that are out of order. Index 5 is the URI of the error details. Elements without an
        /// index come last.
        public var index: Int

        public init(element: String, index: Int = .max) {
            self.element = element
            self.index = index
        }
    }
}
