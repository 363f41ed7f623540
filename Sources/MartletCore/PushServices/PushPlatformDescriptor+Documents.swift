extension PushPlatformDescriptor {
    /// The form of the platform's registrations in XML documents.
    public struct RegistrationForm: Sendable {
        /// The parts of a template other than its body, in the order of the XML elements.
        public enum TemplateElement: Hashable, Sendable {
            /// The name of the template, in the element `TemplateName`.
            case name
            /// A collection of headers, such as `ApnsHeaders` with items `ApnsHeader`. If there is a prefix, all header
            /// names in the collection must begin with it, otherwise the template is refused. The collection may be
            /// written even if it is empty.
            case headers(collection: String, item: String, prefix: String?, isAlwaysWritten: Bool)
            /// A text of `Template.options`, which becomes a field of the message. If the text is missing, the element
            /// may be written as `i:nil`.
            case option(String, field: String, isAlwaysWritten: Bool)
        }

        /// The prefix of XML element names before `RegistrationDescription`, such as `Apple`.
        public var element: String
        /// The names of the XML elements that contain the parts of a handle, in order.
        public var handleElements: [String]
        /// True if a registration may name a secondary tile, in the element `SecondaryTileName` after the elements of
        /// the handle.
        public var hasSecondaryTiles: Bool
        public var templateElements: [TemplateElement]
        /// The words, in lower case, by which the `User-Agent` of certain clients is recognized. These clients cannot
        /// read registrations of the platform, and would fail on a whole feed that contains one. Feeds for these
        /// clients omit registrations of the platform (NotificationHubs.md, section 16, trap 24).
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

    /// The form of the telemetry element that contains the platform's outcome counts.
    public struct OutcomeCountsForm: Sendable {
        public var element: String
        /// The index of the element among the elements of all platforms, from 0 (NotificationHubs.md, section 8.1). It
        /// matters because the .NET client drops elements that are out of order. Index 5 is the URI of the error
        /// details. Elements without an index come last.
        public var index: Int

        public init(element: String, index: Int = .max) {
            self.element = element
            self.index = index
        }
    }
}
