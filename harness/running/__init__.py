"""How a run is asked and kept: here, in several processes, or on Dask; as JSON lines or Parquet parts."""
