"""Walk a FHIR R4 Questionnaire in chat and fill a QuestionnaireResponse; validate both. Pure."""
