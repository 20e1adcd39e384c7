"""`klartext bench --service`: the service beside a bare endpoint on the same database, under the same load."""
