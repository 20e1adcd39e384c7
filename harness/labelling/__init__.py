"""Terminal and files of raters: queues, labelling, adjudication, exchange with other tools."""
