"""Names of FHIR R4 and SDC: item types, resource types, addresses of extensions."""

from __future__ import annotations

from types import MappingProxyType

CHOICES = ("choice", "open-choice")

# By the type of the item, the `value[x]` that an answer may have. Choices may hold what their options hold.
ANSWER_TYPES = MappingProxyType(
    {
        "boolean": ("boolean",),
        "decimal": ("decimal",),
        "integer": ("integer",),
        "date": ("date",),
        "dateTime": ("dateTime",),
        "time": ("time",),
        "string": ("string",),
        "text": ("string",),
        "url": ("uri",),
        "choice": ("coding", "date", "time", "integer", "string", "reference"),
        "open-choice": ("coding", "date", "time", "integer", "string", "reference"),
        "attachment": ("attachment",),
        "reference": ("reference",),
        "quantity": ("quantity",),
        "group": (),
        "display": (),
        "question": (),
    }
)
# Types whose values have an order, so that greater and less mean something.
ORDERED = frozenset({"decimal", "integer", "date", "dateTime", "time", "string", "quantity"})


RESOURCE_TYPES = frozenset(
    """
    Account ActivityDefinition AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic Binary
    BiologicallyDerivedProduct BodyStructure Bundle CapabilityStatement CarePlan CareTeam CatalogEntry ChargeItem
    ChargeItemDefinition Claim ClaimResponse ClinicalImpression CodeSystem Communication CommunicationRequest
    CompartmentDefinition Composition ConceptMap Condition Consent Contract Coverage CoverageEligibilityRequest
    CoverageEligibilityResponse DetectedIssue Device DeviceDefinition DeviceMetric DeviceRequest DeviceUseStatement
    DiagnosticReport DocumentManifest DocumentReference DomainResource EffectEvidenceSynthesis Encounter Endpoint
    EnrollmentRequest EnrollmentResponse EpisodeOfCare EventDefinition Evidence EvidenceVariable ExampleScenario
    ExplanationOfBenefit FamilyMemberHistory Flag Goal GraphDefinition Group GuidanceResponse HealthcareService
    ImagingStudy Immunization ImmunizationEvaluation ImmunizationRecommendation ImplementationGuide InsurancePlan
    Invoice Library Linkage List Location Measure MeasureReport Media Medication MedicationAdministration
    MedicationDispense MedicationKnowledge MedicationRequest MedicationStatement MedicinalProduct
    MedicinalProductAuthorization MedicinalProductContraindication MedicinalProductIndication
    MedicinalProductIngredient MedicinalProductInteraction MedicinalProductManufactured MedicinalProductPackaged
    MedicinalProductPharmaceutical MedicinalProductUndesirableEffect MessageDefinition MessageHeader MolecularSequence
    NamingSystem NutritionOrder Observation ObservationDefinition OperationDefinition OperationOutcome Organization
    OrganizationAffiliation Parameters Patient PaymentNotice PaymentReconciliation Person PlanDefinition Practitioner
    PractitionerRole Procedure Provenance Questionnaire QuestionnaireResponse RelatedPerson RequestGroup
    ResearchDefinition ResearchElementDefinition ResearchStudy ResearchSubject Resource RiskAssessment
    RiskEvidenceSynthesis Schedule SearchParameter ServiceRequest Slot Specimen SpecimenDefinition StructureDefinition
    StructureMap Subscription Substance SubstanceNucleicAcid SubstancePolymer SubstanceProtein
    SubstanceReferenceInformation SubstanceSourceMaterial SubstanceSpecification SupplyDelivery SupplyRequest Task
    TerminologyCapabilities TestReport TestScript ValueSet VerificationResult VisionPrescription
    """.split()  # noqa: SIM905 - reads better than 148 quoted names
)


_CORE = "http://hl7.org/fhir/StructureDefinition/"
_SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"

MIN_VALUE = (_CORE + "minValue",)
MAX_VALUE = (_CORE + "maxValue",)
MIN_LENGTH = (_CORE + "minLength",)
REGEX = (_CORE + "regex",)
ENTRY_FORMAT = (_CORE + "entryFormat",)
MAX_DECIMAL_PLACES = (_CORE + "maxDecimalPlaces",)
MAX_SIZE = (_CORE + "maxSize",)
MIME_TYPE = (_CORE + "mimeType",)
MIN_OCCURS = (_CORE + "questionnaire-minOccurs",)
MAX_OCCURS = (_CORE + "questionnaire-maxOccurs",)
OPTION_EXCLUSIVE = (_CORE + "questionnaire-optionExclusive",)
REFERENCE_RESOURCE = (_CORE + "questionnaire-referenceResource",)
UNIT = (_CORE + "questionnaire-unit",)
UNIT_OPTION = (_CORE + "questionnaire-unitOption",)
UNIT_VALUE_SET = (_CORE + "questionnaire-unitValueSet",)
HIDDEN = (_CORE + "questionnaire-hidden",)
ITEM_CONTROL = (_CORE + "questionnaire-itemControl",)
VARIABLE = (_CORE + "variable",)
CQF_EXPRESSION = (_CORE + "cqf-expression",)
CONSTRAINT = (_CORE + "questionnaire-constraint",)
CONSTRAINT_TRANSLATION = ("https://klartext.example/fhir/StructureDefinition/constraint-translation",)
TARGET_CONSTRAINT = (_CORE + "targetConstraint", _SDC + "targetConstraint")
MIN_QUANTITY = (_SDC + "sdc-questionnaire-minQuantity",)
MAX_QUANTITY = (_SDC + "sdc-questionnaire-maxQuantity",)
ENABLE_WHEN_EXPRESSION = (_SDC + "sdc-questionnaire-enableWhenExpression",)
CALCULATED_EXPRESSION = (_SDC + "sdc-questionnaire-calculatedExpression",)
INITIAL_EXPRESSION = (_SDC + "sdc-questionnaire-initialExpression",)
ANSWER_EXPRESSION = (_SDC + "sdc-questionnaire-answerExpression",)
ANSWER_OPTIONS_TOGGLE = (_SDC + "sdc-questionnaire-answerOptionsToggleExpression",)
LAUNCH_CONTEXT = (_SDC + "sdc-questionnaire-launchContext",)
UNIT_OPEN = (_SDC + "sdc-questionnaire-unitOpen",)
# Values of UNIT_OPEN under which other units than the listed are taken.
OPEN_UNITS = ("optionsOrType", "optionsOrString")
